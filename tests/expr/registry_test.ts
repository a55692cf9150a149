import { assertEquals, assertMatch } from "@std/assert";
import { FUNCTIONS } from "../../src/expr/functions/registry.ts";

const NAMES = `
  trim trimPrefix trimSuffix upper lower split splitAfter replace repeat join indexOf lastIndexOf
  hasPrefix hasSuffix abs ceil floor round max min mean median bitand bitor bitxor bitnand bitnot
  bitshl bitshr bitushr all any one none filter map count sum find findIndex findLast findLastIndex
  groupBy sortBy reduce first last take reverse uniq concat flatten sort keys values toPairs fromPairs
  len get type int float parse_int parse_float string toJSON fromJSON parse_json toBase64 fromBase64
  encode_base64 decode_base64 match_json diff_json random_int random_str unixtime contains startsWith
  endsWith matches secret
  encode_base64url decode_base64url encode_url decode_url encode_hex decode_hex crc32 uuid one_of
  cookie approx is_uuid is_email is_url is_ip is_iso_date md5 sha1 sha256 sha512 hmac_sha256
  capture css json_path jmespath semver parse_yaml parse_csv
  xpath jwt jwt_verify jwt_sign now date format_date date_parts duration
  includes_json unordered anything is_type schema
`.trim().split(/\s+/);

Deno.test("the language has these functions and no others", () => {
  assertEquals([...FUNCTIONS.keys()].sort(), NAMES.toSorted());
});

Deno.test("every function documents its parameters and result", () => {
  const parameter = "(\\.\\.\\.)?\\w+\\??(: (any|string|number|integer|int64|list|map))?";
  const signature = new RegExp(`^\\w+\\((${parameter}(, ${parameter})*)?\\)$`);
  for (const record of FUNCTIONS.values()) {
    assertMatch(record.signature, signature);
    assertMatch(record.summary, /^[A-Z].*\.$/);
  }
});
