"""The page's look: light and dark, narrow and wide, on paper. Colours keep a contrast of at least 4.5 to 1."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c2128; --quiet: #57606a; --line: #d0d7de; --sheet: #f6f8fa; --link: #0550ae;
  --error: #b42318; --error-back: #ffdcd7; --warning: #7a4f01; --warning-back: #fff0b8;
  --waived: #57606a; --waived-back: #e7ebef;
  --add: #0a4b1e; --add-back: #dcf5e3; --del: #7d1a14; --del-back: #fde4e1; --hunk: #4b3a8f; --good: #0a5c27;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181d; --ink: #e3e7ec; --quiet: #a3adb8; --line: #3a434d; --sheet: #1d232a; --link: #82b4ff;
    --error: #ffaaa0; --error-back: #5a1d17; --warning: #ffd873; --warning-back: #4d3a05;
    --waived: #a3adb8; --waived-back: #2f3740;
    --add: #a6e9b9; --add-back: #14361f; --del: #ffb9b2; --del-back: #46191a; --hunk: #c3b4ff; --good: #8fdca6;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0 auto; padding: 1rem; max-width: 84rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .4rem 0; }
a { color: var(--link); }
small, .quiet { color: var(--quiet); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; margin: .75rem 0 0; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875rem; unicode-bidi: isolate; }
pre { margin: .25rem 0 .75rem; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: 6px; }
pre { background: var(--sheet); overflow-x: auto; tab-size: 8; }
pre.copy { user-select: all; white-space: pre-wrap; max-height: 30rem; overflow-y: auto; }
.text { white-space: pre-wrap; padding: .75rem 1rem; background: var(--sheet); border: 1px solid var(--line); }
.text { border-radius: 6px; tab-size: 8; font: .9rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
.beside { display: grid; gap: 0 2rem; grid-template-columns: minmax(0, 1fr); margin-bottom: .75rem; }
@media (min-width: 60rem) { .beside { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
.pair { display: grid; gap: 0 1.5rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 40rem) { .pair { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
mark { color: inherit; border-bottom: 2px solid; border-radius: 2px; padding: 0 .05em; }
mark.error { background: var(--error-back); border-color: var(--error); }
mark.warning { background: var(--warning-back); border-color: var(--warning); }
mark.waived { background: var(--waived-back); border-color: var(--waived); }
.ref { font: .7rem/1 system-ui, sans-serif; vertical-align: super; padding: 0 .15em; user-select: none; }
ol.findings { padding-left: 1.75rem; }
ol.findings li { margin: .4rem 0; padding-left: .25rem; }
li:target, .ref:target, mark:target { outline: 2px solid var(--link); outline-offset: 2px; }
.kind { font-weight: 600; }
.kind.error, .red { color: var(--error); }
.kind.warning { color: var(--warning); }
.kind.waived { color: var(--waived); }
.green { color: var(--good); }
.unseen { font: .7rem/1 ui-monospace, monospace; border: 1px solid var(--error); border-radius: 3px; padding: 0 .2em; }
.unseen { color: var(--error); }
dl { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1rem; margin: .5rem 0; }
dt { color: var(--quiet); }
dd { margin: 0 0 .4rem; }
@media (min-width: 40rem) { dl { grid-template-columns: 11rem minmax(0, 1fr); } dd { margin: 0; } }
table { border-collapse: collapse; width: 100%; table-layout: fixed; margin: .5rem 0; }
caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
tbody th { font-weight: 400; }
th + th, td { width: 6rem; padding: .3rem .25rem; overflow-wrap: normal; }
@media (min-width: 60rem) { th + th, td { width: 11rem; } }
.file { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .4rem .6rem; }
summary { cursor: pointer; }
.file summary code { font-weight: 600; }
.plus { color: var(--add); }
.minus { color: var(--del); }
.diff { padding: .4rem 0; margin: .4rem 0 .2rem; max-height: 40rem; }
.diff code { display: inline-block; min-width: 100%; }
.diff span:not(.unseen) { display: block; padding: 0 .75rem; white-space: pre; }
.diff .add { background: var(--add-back); color: var(--add); }
.diff .del { background: var(--del-back); color: var(--del); }
.diff .hunk { color: var(--hunk); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; color: var(--quiet); }
@media print {
  body { max-width: none; padding: 0; font-size: .8rem; }
  nav { display: none; }
  pre, pre.copy, .diff { max-height: none; overflow: visible; white-space: pre-wrap; }
  .diff span:not(.unseen) { white-space: pre-wrap; }
  .diff code { display: block; }
  details::details-content { display: block; content-visibility: visible; }
  h2, summary { break-after: avoid; }
  mark, .diff .add, .diff .del { print-color-adjust: exact; }
}
"""
