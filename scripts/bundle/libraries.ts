/**
 * Libraries that only some runs need, and what for. The chunks contain all of them; the one file
 * contains none and fetches them from npm, in the version of deno.json, when they are imported.
 * src/README.md says how to add one.
 */
export const LIBRARIES: Readonly<Record<string, string>> = {
  "diff": "showing differences",
  "@cloudamqp/amqp-client/amqp-base-client": "speaking AMQP",
  "@cloudamqp/amqp-client/amqp-view": "speaking AMQP",
  "@bufbuild/protobuf": "encoding the messages of gRPC",
  "@bufbuild/protobuf/wkt": "encoding the messages of gRPC",
  "@connectrpc/connect": "calling methods of gRPC",
  "@connectrpc/connect-node": "calling methods of gRPC",
  "@modelcontextprotocol/sdk/server/mcp.js": "speaking to assistants",
  "@modelcontextprotocol/sdk/server/stdio.js": "speaking to assistants",
  "@nats-io/nats-core/internal": "speaking to NATS",
  "@opentelemetry/otlp-transformer": "sending spans",
  "ajv": "validating by JSON Schema",
  "ajv/dist/2019.js": "validating by JSON Schema",
  "ajv/dist/2020.js": "validating by JSON Schema",
  "ajv-draft-04": "validating by JSON Schema",
  "ajv-formats": "validating by JSON Schema",
  "aws4fetch": "signing requests for AWS",
  "css-select": "finding elements by selectors",
  "dns-packet": "asking name servers",
  "eventsource-parser": "reading server-sent events",
  "htmlparser2": "reading HTML",
  "imapflow": "reading mailboxes by IMAP",
  "ioredis": "speaking to Redis",
  "json-p3": "evaluating JSONPaths",
  "kafkajs": "speaking to Apache Kafka",
  "mqtt-packet": "speaking MQTT",
  "mysql2": "querying MySQL and MariaDB",
  "nodemailer/lib/mail-composer": "writing mails",
  "nodemailer/lib/smtp-connection": "sending mails by SMTP",
  "openapi-sampler": "reading OpenAPI descriptions",
  "pg": "querying PostgreSQL",
  "postal-mime": "reading mails",
  "protobufjs": "reading .proto files",
  "puppeteer-core": "driving a browser",
  "re2js": "matching regular expressions",
  "ssh2": "speaking SSH",
  "vscode-languageserver/node": "speaking to editors",
  "ws": "speaking over WebSockets",
  "tough-cookie": "keeping the cookies of responses",
  "xpath": "evaluating XPath",
  "yaml": "formatting YAML",
  "zod": "describing the tools of assistants",
};

/** Optional packages of libraries, for what we do not use of them: downloads of browsers. */
export const NEVER_IMPORTED: ReadonlySet<string> = new Set(["proxy-agent", "yauzl"]);
