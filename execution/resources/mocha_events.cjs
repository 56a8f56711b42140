'use strict'
// A reporter for mocha 6 and later: one JSON object a line, written to the path of the reporter option `report`.
//
// `execution/reports/mocha.py` describes and reads the lines. This file stands alone: mocha requires it by its path, and
// it requires nothing but node's own modules. It prints failures for people and keeps no state beside the report, so a
// run is the same as one with any other reporter. What it needs of globals is taken at once: tests replace them.

const fs = require('fs')

const { openSync, writeSync } = fs
const { stringify } = JSON
const TextOf = String
const LONGEST_MESSAGE = 400

function tellingLine (error) {
  const text = TextOf((error && error.message) || error)
  const line = text.split('\n').map(each => each.trim()).find(each => each) || ''
  return line.slice(0, LONGEST_MESSAGE)
}

function reason (error) {
  const named = error !== null && typeof error === 'object'
  try {
    return {
      name: named ? TextOf(error.name) : '',
      code: named && error.code !== undefined ? TextOf(error.code) : '',
      message: tellingLine(error),
      // Assertion libraries that throw plain errors still hand mocha the two values to show.
      compares: named && 'actual' in error && 'expected' in error
    }
  } catch (unreadable) {
    // A thrown value may refuse to be read at all; that it was thrown is what counts.
    return { name: '', code: '', message: 'an error that can not be shown', compares: false }
  }
}

module.exports = function Events (runner, options) {
  const given = (options && (options.reporterOptions || options.reporterOption)) || {}
  const pipe = openSync(given.report, 'w')
  const tell = event => {
    let line = Buffer.from(stringify(event) + '\n')
    while (line.length > 0) line = line.subarray(writeSync(pipe, line))
  }
  const one = (outcome, runnable, error) => tell({
    event: 'test',
    outcome,
    kind: TextOf(runnable.type || 'test'),
    name: TextOf(runnable.fullTitle()),
    error: outcome === 'failed' ? reason(error) : null
  })
  runner.once('start', () => tell({ event: 'start' }))
  runner.on('pass', test => one('passed', test))
  runner.on('pending', test => one('skipped', test))
  runner.on('fail', (test, error) => {
    one('failed', test, error)
    process.stdout.write(`failed: ${test.fullTitle()}\n${(error && error.stack) || tellingLine(error)}\n`)
  })
  runner.once('end', () => tell({ event: 'end', failures: runner.failures }))
}
