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

/** Tests about texts that are read, encoded, hashed or signed, and what is printed about each, where N is a number. */
const TEXTS_AND_DIGESTS_FAILURES: readonly (readonly [test: string, printed: string])[] = [
  [
    "parse_yaml(vars.yaml).a == [1, 2]",
    `
w.yml:18:11: parse_yaml() cannot read line 1 of this text as YAML:
unexpected end of the stream within a flow collection
  18 |           parse_yaml(vars.yaml).a == [1, 2]
     |           ^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'parse_yaml("a: 1\\na: 2").a == 1',
    `
w.yml:18:11: parse_yaml() cannot read line 2 of this text as YAML:
duplicated mapping key
  18 |           parse_yaml("a: 1\\na: 2").a == 1
     |           ^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    "parse_yaml(vars.data).a == 1",
    `
w.yml:18:22: argument 1 of parse_yaml() must be a string, got map
  18 |           parse_yaml(vars.data).a == 1
     |                      ^^^^^^^^^
`,
  ],
  [
    'parse_csv(vars.csv)[0].price == "3.5"',
    `
w.yml:18:11: parse_csv() needs as many values as names: row 2 has 3, the
first row 2
  18 |           parse_csv(vars.csv)[0].price == "3.5"
     |           ^^^^^^^^^^^^^^^^^^^
     | put a value with a comma in it in quotes: "a, b"
`,
  ],
  [
    "parse_csv(vars.good_csv)[0].price == 3.5",
    `
w.yml:18:11: test is false
  18 |           parse_csv(vars.good_csv)[0].price == 3.5
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | parse_csv(vars.good_csv)[0].price is string, 3.5 is float: write
     | parse_float(parse_csv(vars.good_csv)[0].price)
parse_csv(vars.good_csv)[0].price is "3.5" (string)
`,
  ],
  [
    'parse_csv("a,b\\n\\"1,2") == []',
    `
w.yml:18:11: parse_csv() cannot read line 2 of this text as CSV
  18 |           parse_csv("a,b\\n\\"1,2") == []
     |           ^^^^^^^^^^^^^^^^^^^^^^^ write a quote in a value as ""
`,
  ],
  [
    'parse_csv("a,a\\n1,2")[0].a == "1"',
    `
w.yml:18:11: parse_csv() needs a first row of names, each there once
  18 |           parse_csv("a,a\\n1,2")[0].a == "1"
     |           ^^^^^^^^^^^^^^^^^^^^^
     | columns 1 and 2 have the same name
`,
  ],
  [
    "parse_json(vars.json).a == 1",
    `
w.yml:18:11: parse_json() cannot read this text as JSON at position 8
  18 |           parse_json(vars.json).a == 1
     |           ^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    "parse_json(vars.body).a == 1",
    `
w.yml:18:11: parse_json() cannot read this text as JSON
  18 |           parse_json(vars.body).a == 1
     |           ^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'decode_base64("YT9-w6k") == "a?~é"',
    `
w.yml:18:11: decode_base64() cannot read this text as base64
  18 |           decode_base64("YT9-w6k") == "a?~é"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^
     | it may be base64url: use decode_base64url(…)
`,
  ],
  [
    'decode_base64url("YT9+w6k=") == "a?~é"',
    `
w.yml:18:11: decode_base64url() cannot read this string as base64url
  18 |           decode_base64url("YT9+w6k=") == "a?~é"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | it is base64: use decode_base64(…)
`,
  ],
  [
    'decode_hex("abc") == "x"',
    `
w.yml:18:11: decode_hex() cannot read this string as hexadecimal
  18 |           decode_hex("abc") == "x"
     |           ^^^^^^^^^^^^^^^^^ a byte is two digits
`,
  ],
  [
    'decode_hex("ff") == "x"',
    `
w.yml:18:11: decode_hex() decodes to bytes that are not UTF-8
  18 |           decode_hex("ff") == "x"
     |           ^^^^^^^^^^^^^^^^
`,
  ],
  [
    'decode_url("100%") == "100%"',
    `
w.yml:18:11: decode_url() cannot read this string as URL-encoded UTF-8
  18 |           decode_url("100%") == "100%"
     |           ^^^^^^^^^^^^^^^^^^ a % itself is written %25
`,
  ],
  [
    'sha256(vars.body) == "2cf24dba"',
    `
w.yml:18:11: test is false
  18 |           sha256(vars.body) == "2cf24dba"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
sha256(vars.body) is
"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e7304336293… (string)
- expected: "2cf24dba"
+ received: sha256(vars.body)
@ character 9
- 2cf24dba
+ 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
`,
  ],
  [
    'sha256(vars.body, "base46") == "abc="',
    `
w.yml:18:11: unknown encoding "base46" of sha256()
  18 |           sha256(vars.body, "base46") == "abc="
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^ did you mean "base64"?
`,
  ],
  [
    'sha256(vars.data) == "2cf24dba"',
    `
w.yml:18:18: argument 1 of sha256() must be a string, got map
  18 |           sha256(vars.data) == "2cf24dba"
     |                  ^^^^^^^^^
`,
  ],
  [
    'hmac_sha256("key", vars.body, "base64") == "abc="',
    `
w.yml:18:11: test is false
  18 |           hmac_sha256("key", vars.body, "base64") == "abc="
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hmac_sha256("key", vars.body, "base64") is
"kwezuRXvtRcf8U2MtV+8x5jGwO8UVtZt7RpqpyOli3s=" (string)
`,
  ],
  [
    "crc32(vars.body) == 907060870",
    `
w.yml:18:11: test is false
  18 |           crc32(vars.body) == 907060870
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | crc32(vars.body) is string, 907060870 is int
crc32(vars.body) is "3610a686" (string)
`,
  ],
  [
    'jwt(vars.body).claims.sub == "ann"',
    `
w.yml:18:11: jwt() needs a token of three parts with dots between them
  18 |           jwt(vars.body).claims.sub == "ann"
     |           ^^^^^^^^^^^^^^
`,
  ],
  [
    'jwt(vars.plain).claims.sub == "ann"',
    `
w.yml:18:11: jwt() cannot read the header of this token as JSON
  18 |           jwt(vars.plain).claims.sub == "ann"
     |           ^^^^^^^^^^^^^^^
`,
  ],
  [
    'jwt(vars.token).claims.role == "admin"',
    `
w.yml:18:11: test is false
  18 |           jwt(vars.token).claims.role == "admin"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | jwt(vars.token).claims has no "role"; there is "sub", "exp"
jwt(vars.token).claims.role is nil
`,
  ],
  [
    'jwt_verify(vars.token, vars.key).sub == "ann"',
    `
w.yml:18:11: the signature of this token is wrong: it was signed with
another key, or changed
  18 |           jwt_verify(vars.token, vars.key).sub == "ann"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jwt_verify(jwt_sign({exp: 1}, vars.key), vars.key).sub == "ann"',
    `
w.yml:18:11: this token expired N days ago (exp)
  18 |           jwt_verify(jwt_sign({exp: 1}, vars.key), vars.key).sub…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jwt_verify(jwt_sign({}, vars.key), vars.pem).sub == "ann"',
    `
w.yml:18:11: cannot read the key as PEM for a public key
  18 |           jwt_verify(jwt_sign({}, vars.key), vars.pem).sub == "a…
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | give all lines from BEGIN to END, each on a line of its own
`,
  ],
  [
    'jwt_sign({}, vars.key, {algorithm: "HS257"}) == "x"',
    `
w.yml:18:11: unknown algorithm "HS257" of jwt_sign()
  18 |           jwt_sign({}, vars.key, {algorithm: "HS257"}) == "x"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | the algorithms are HS256, RS256, PS256, ES256 (also with 384 and
     | 512) and EdDSA
`,
  ],
  [
    'jwt_sign({}, vars.key, {algorithm: "RS256"}) == "x"',
    `
w.yml:18:11: RS256 needs an RSA key, and this is a secret
  18 |           jwt_sign({}, vars.key, {algorithm: "RS256"}) == "x"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    'jwt_sign({}, vars.key, {alg: "HS256"}) == "x"',
    `
w.yml:18:11: unknown option "alg" of jwt_sign()
  18 |           jwt_sign({}, vars.key, {alg: "HS256"}) == "x"
     |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
     | the options are algorithm and header
`,
  ],
];

testFailuresAt80(
  `  yaml: "a: [1, 2"
  csv: "name,price\\ntea,3.5\\nmilk,2,4"
  good_csv: "name,price\\ntea,3.5"
  json: '{"a": 1,}'
  body: hello
  token: eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbm4iLCJleHAiOjF9.abcd
  plain: not.a.token
  key: 0123456789abcdef
  pem: "-----BEGIN PUBLIC KEY----- MFkw -----END PUBLIC KEY-----"
  data: {a: 1}
`,
  TEXTS_AND_DIGESTS_FAILURES,
);
