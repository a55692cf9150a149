/**
 * Libraries that only some runs need, and what for. The chunks contain all of them; the one file
 * contains none and fetches them from npm, in the version of deno.json, when they are imported.
 * src/README.md, "Adding a library", says how to add one.
 */
export const LIBRARIES: Readonly<Record<string, string>> = {
  "diff": "showing differences",
  "@jmespath-community/jmespath": "evaluating JMESPath",
  "aws4fetch": "signing requests for AWS",
  "css-select": "finding elements by selectors",
  "dns-packet": "asking name servers",
  "htmlparser2": "reading HTML",
  "hdr-histogram-js": "counting the times of rounds",
  "ioredis": "speaking to Redis",
  "jsonpath-rfc9535/parser": "reading JSONPaths",
  "mysql2": "querying MySQL and MariaDB",
  "openapi-sampler": "reading OpenAPI descriptions",
  "pg": "querying PostgreSQL",
  "re2js": "matching regular expressions",
  "tough-cookie": "keeping the cookies of responses",
};
