'use strict'
// Preloaded by `node -r` before a test file of uvu 0.5: one JSON object a line about each test, on file descriptor 3.
//
// `execution/reports/uvu.py` describes and reads the lines. uvu has no reporter: it binds each suite to its own function
// `runner` and hands out nothing else. So that one call of `bind` is seen here, and the suite's tests are wrapped; what
// uvu prints, in which order it runs and how it exits stay as they are. Once tests run, `bind` is node's own again.
//
// This file stands alone. It does nothing in a worker, nor in a child that was started with the same options: only the
// process whose descriptor 3 is its parent's writes.

const fs = require('fs')

const { writeSync, readlinkSync } = fs
const { stringify } = JSON
const REPORT_FD = 3
const LONGEST_MESSAGE = 400

function isMain () {
  try {
    if (!require('worker_threads').isMainThread) return false
    const own = readlinkSync(`/proc/self/fd/${REPORT_FD}`)
    return own.startsWith('pipe:') && own === readlinkSync(`/proc/${process.ppid}/fd/${REPORT_FD}`)
  } catch (missing) {
    return false
  }
}

function tell (event) {
  let line = Buffer.from(stringify(event) + '\n')
  while (line.length > 0) line = line.subarray(writeSync(REPORT_FD, line))
}

function reason (error) {
  const named = error !== null && typeof error === 'object'
  const text = String((named && error.message) || error)
  const line = text.split('\n').map(each => each.trim()).find(each => each) || ''
  return {
    name: named ? String(error.name) : '',
    code: named && error.code !== undefined ? String(error.code) : '',
    message: line.slice(0, LONGEST_MESSAGE)
  }
}

function isSuite (context) {
  return context !== null && typeof context === 'object' && ['tests', 'only', 'bEach', 'aEach', 'before', 'after']
    .every(name => Array.isArray(context[name]))
}

// One test with the hooks around it, in uvu's own order: after a failure the hooks after it run once more.
function observed (suite, test, beforeEach, afterEach) {
  return async state => {
    try {
      for (const hook of beforeEach) await hook(state)
      await test.handler(state)
      for (const hook of afterEach) await hook(state)
    } catch (error) {
      tell({ event: 'test', suite, name: String(test.name), outcome: 'failed', error: reason(error) })
      for (const hook of afterEach) await hook(state)
      throw error
    }
    tell({ event: 'test', suite, name: String(test.name), outcome: 'passed', error: null })
  }
}

function watch () {
  const prototype = Function.prototype
  const bind = prototype.bind
  let begun = false
  const release = () => {
    if (!begun) tell({ event: 'start' })
    begun = true
    prototype.bind = bind
  }
  prototype.bind = function (...given) {
    const [, context, suite] = given
    const bound = bind.apply(this, given)
    if (this.name !== 'runner' || !isSuite(context) || typeof suite !== 'string') return bound
    const { bEach, aEach } = context
    const wrapped = test => ({ name: test.name, handler: observed(suite, test, bEach, aEach) })
    const chosen = context.only.length ? context.only : context.tests
    const names = chosen.map(test => String(test.name))
    const skipped = (context.only.length ? context.tests.length : 0) + context.skips
    context.tests = context.tests.map(wrapped)
    context.only = context.only.map(wrapped)
    context.bEach = []
    context.aEach = []
    return async () => {
      release()
      tell({ event: 'suite', suite, names, skipped })
      const answer = await bound()
      tell({ event: 'suite-end', suite })
      return answer
    }
  }
  process.on('exit', code => tell({ event: 'end', code: Number(process.exitCode || code || 0) }))
}

if (isMain()) watch()
