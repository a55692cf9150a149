import { testFailuresAt80 } from "../../support/failures_at_80.ts";

/** Tests about texts that are read, encoded, hashed or signed, and what is printed about each, where N is a number. */
const FAILURES: readonly (readonly [test: string, printed: string])[] = [
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
  FAILURES,
);
