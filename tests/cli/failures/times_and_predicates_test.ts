import { testFailuresAt80 } from "../../support/failures_at_80.ts";

/** Tests about times, durations, versions, and the form of values, and what is printed about each. */
const FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    "date(vars.german) < now()",
    `
w.yml:16:11: date() cannot read "01.03.2026"
  16 |           date(vars.german) < now()
     |           ^^^^^^^^^^^^^^^^^
     | give its layout: date(text, "02.01.2006")
`,
  ],
  [
    'date("2026-02-30") < now()',
    `
w.yml:16:11: date() cannot read "2026-02-30"
  16 |           date("2026-02-30") < now()
     |           ^^^^^^^^^^^^^^^^^^ there is no such day or time
`,
  ],
  [
    'date(vars.german, "2006-01-02") < now()',
    `
w.yml:16:11: date() cannot read "01.03.2026" with the layout
"2006-01-02"
  16 |           date(vars.german, "2006-01-02") < now()
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | write out the reference time, as in 2006-01-02 15:04:05, or
     | %Y-%m-%d %H:%M:%S
`,
  ],
  [
    'date(vars.created, "yyyy-MM-dd") < now()',
    `
w.yml:16:11: date() cannot read the layout "yyyy-MM-dd"
  16 |           date(vars.created, "yyyy-MM-dd") < now()
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | write out the reference time, as in 2006-01-02 15:04:05, or
     | %Y-%m-%d %H:%M:%S
`,
  ],
  [
    'date(vars.created, "2006-01-02", "Zurich") < now()',
    `
w.yml:16:11: unknown time zone "Zurich" of date()
  16 |           date(vars.created, "2006-01-02", "Zurich") < now()
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | write the name of a place, as in Europe/Zurich, or UTC
`,
  ],
  [
    'date(vars.created) > date("2030-01-01")',
    `
w.yml:16:11: test is false
  16 |           date(vars.created) > date("2030-01-01")
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
date(vars.created) is "2026-03-01T12:00:00.000Z" (string)
date("2030-01-01") is "2030-01-01T00:00:00.000Z" (string)
`,
  ],
  [
    "date(vars.created) > 1772366400",
    `
w.yml:16:11: cannot compare string > int
  16 |           date(vars.created) > 1772366400
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | date(…) turns a Unix time into such a text
`,
  ],
  [
    'format_date(vars.created, "%Y-%m-%d") == "2026-03-02"',
    `
w.yml:16:11: test is false
  16 |           format_date(vars.created, "%Y-%m-%d") == "2026-03-02"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
format_date(vars.created, "%Y-%m-%d") is "2026-03-01" (string)
`,
  ],
  [
    'format_date(vars.german, "%Y-%m-%d") == "2026-03-01"',
    `
w.yml:16:11: format_date() needs a time, got "01.03.2026"
  16 |           format_date(vars.german, "%Y-%m-%d") == "2026-03-01"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | read the string with date(text) first
`,
  ],
  [
    'format_date(vars.body.created, "%Y") == "2026"',
    `
w.yml:16:33: vars.body has no "created"
  16 |           format_date(vars.body.created, "%Y") == "2026"
     |                                 ^^^^^^^ there is "id"
`,
  ],
  [
    'vars.german + duration("24h") < now()',
    `
w.yml:16:11: cannot add string + int
  16 |           vars.german + duration("24h") < now()
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | read a time with date(text, layout) first
`,
  ],
  [
    'vars.created - duration("24h") == "2026-03-02T12:00:00.000Z"',
    `
w.yml:16:11: test is false
  16 |           vars.created - duration("24h") == "2026-03-02T12:00:00…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vars.created - duration("24h") is "2026-02-28T12:00:00.000Z" (string)
`,
  ],
  [
    'duration("2 weeks") > 3',
    `
w.yml:16:11: duration() cannot read "2 weeks"
  16 |           duration("2 weeks") > 3
     |           ^^^^^^^^^^^^^^^^^^^
     | write "300ms", "1.5s", "2m" or "1h30m"
`,
  ],
  [
    'duration("90s") == "90s"',
    `
w.yml:16:11: test is false
  16 |           duration("90s") == "90s"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^
     | duration("90s") is int, "90s" is string
duration("90s") is 90 (int)
`,
  ],
  [
    'semver(vars.version) > semver("1.10.0")',
    `
w.yml:16:11: test is false
  16 |           semver(vars.version) > semver("1.10.0")
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vars.version is "1.9.0" (string)
`,
  ],
  [
    'semver(vars.version) > "1.10.0"',
    `
w.yml:16:11: cannot compare semver(…) > string
  16 |           semver(vars.version) > "1.10.0"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | write semver(…) on both sides
`,
  ],
  [
    'semver(vars.version) == "1.9.0"',
    `
w.yml:16:11: test is false
  16 |           semver(vars.version) == "1.9.0"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | write semver(…) on both sides
vars.version is "1.9.0" (string)
`,
  ],
  [
    'semver("1.9") > semver("1.8.0")',
    `
w.yml:16:11: semver() cannot read "1.9"
  16 |           semver("1.9") > semver("1.8.0")
     |           ^^^^^^^^^^^^^ write a version like 1.2.3 or 1.2.3-rc.1
`,
  ],
  [
    'semver(vars.took) > semver("1.8.0")',
    `
w.yml:16:18: argument 1 of semver() must be a string, got float
  16 |           semver(vars.took) > semver("1.8.0")
     |                  ^^^^^^^^^
`,
  ],
  [
    "is_uuid(vars.id)",
    `
w.yml:16:11: test is false
  16 |           is_uuid(vars.id)
     |           ^^^^^^^^^^^^^^^^
vars.id is "123e4567" (string)
`,
  ],
  [
    "is_email(vars.state) && is_url(vars.state)",
    `
w.yml:16:11: test is false
  16 |           is_email(vars.state) && is_url(vars.state)
     |           ^^^^^^^^^^^^^^^^^^^^
vars.state is "open" (string)
`,
  ],
  [
    "is_ip(vars.body.id) || is_iso_date(vars.german)",
    `
w.yml:16:11: test is false
  16 |           is_ip(vars.body.id) || is_iso_date(vars.german)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vars.body.id is 7 (int)
vars.german is "01.03.2026" (string)
`,
  ],
  [
    'one_of(vars.state, ["paid", "sent"])',
    `
w.yml:16:11: test is false
  16 |           one_of(vars.state, ["paid", "sent"])
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vars.state is "open" (string)
`,
  ],
  [
    "one_of(vars.state, vars.version)",
    `
w.yml:16:30: argument 2 of one_of() must be a list, got string
  16 |           one_of(vars.state, vars.version)
     |                              ^^^^^^^^^^^^
`,
  ],
  [
    "uuid() == vars.id",
    `
w.yml:16:11: test is false
  16 |           uuid() == vars.id
     |           ^^^^^^^^^^^^^^^^^
uuid() is "6c9398d9-9385-4035-af07-0d2c1cd5631d" (string)
vars.id is "123e4567" (string)
`,
  ],
  [
    "approx(vars.took, 1, 0.1)",
    `
w.yml:16:11: test is false
  16 |           approx(vars.took, 1, 0.1)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^ they differ by 0.25
vars.took is 1.25 (float)
`,
  ],
  [
    "approx(vars.state, 1, 0.1)",
    `
w.yml:16:18: argument 1 of approx() must be a number, got string
  16 |           approx(vars.state, 1, 0.1)
     |                  ^^^^^^^^^^
`,
  ],
  [
    "approx(vars.took, 1, vars.minus)",
    `
w.yml:16:11: approx() needs a tolerance of 0 or more
  16 |           approx(vars.took, 1, vars.minus)
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
];

testFailuresAt80(
  `  created: "2026-03-01T12:00:00Z"
  german: 01.03.2026
  version: 1.9.0
  id: 123e4567
  took: 1.25
  minus: -1
  state: open
  body: {id: 7}
`,
  FAILURES,
  ["--seed", "7"],
);
