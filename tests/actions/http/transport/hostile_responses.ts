/** A response as bytes, and what is right to make of it. */
export interface Case {
  readonly name: string;
  readonly bytes: string;
  readonly method?: string;
  /** Whether the server closes the connection after it; otherwise it stays open. */
  readonly closes?: boolean;
  /** Status and body, `+` where the connection may be used again, or the failure. */
  readonly is: string;
}

const OK = "HTTP/1.1 200 OK\r\n";
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Responses that a server might send, well-formed and not. */
export const CASES: readonly Case[] = [
  { name: "length", bytes: `${OK}Content-Length: 2\r\n\r\nhi`, is: '200 "hi" +' },
  { name: "length 0", bytes: `${OK}Content-Length: 0\r\n\r\n`, is: '200 "" +' },
  { name: "chunks", bytes: `${CHUNKED}2\r\nhi\r\n3\r\nyou\r\n0\r\n\r\n`, is: '200 "hiyou" +' },
  {
    name: "chunks with extensions",
    bytes: `${CHUNKED}2;a=b;c="d e"\r\nhi\r\n0;x\r\n\r\n`,
    is: '200 "hi" +',
  },
  { name: "space after chunk size", bytes: `${CHUNKED}2 \r\nhi\r\n0\r\n\r\n`, is: '200 "hi" +' },
  {
    name: "trailers",
    bytes: `${CHUNKED}2\r\nhi\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n`,
    is: '200 "hi" + X-Sum=1,Y=2',
  },
  { name: "until close", bytes: `${OK}\r\nhi`, closes: true, is: '200 "hi"' },
  { name: "no body, until close", bytes: `${OK}\r\n`, closes: true, is: '200 ""' },
  {
    name: "HTTP/1.0 with keep-alive",
    bytes: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi",
    is: '200 "hi" +',
  },
  { name: "HTTP/1.0", bytes: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", is: '200 "hi"' },
  {
    name: "Connection: close",
    bytes: `${OK}Connection: foo, Close\r\nContent-Length: 2\r\n\r\nhi`,
    is: '200 "hi"',
  },
  {
    name: "Connection: x-close is not close",
    bytes: `${OK}Connection: x-close\r\nContent-Length: 2\r\n\r\nhi`,
    is: '200 "hi" +',
  },
  {
    name: "Keep-Alive: timeout=1",
    bytes: `${OK}Keep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nhi`,
    is: '200 "hi"',
  },
  { name: "no reason", bytes: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", is: '200 "" +' },
  {
    name: "HEAD with length",
    method: "HEAD",
    bytes: `${OK}Content-Length: 100\r\n\r\n`,
    is: '200 "" +',
  },
  { name: "HEAD with chunked", method: "HEAD", bytes: CHUNKED, is: '200 "" +' },
  { name: "204", bytes: "HTTP/1.1 204 No Content\r\n\r\n", is: '204 "" +' },
  {
    name: "204 with a body that is not allowed",
    bytes: "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi",
    is: '204 ""',
  },
  {
    name: "304 with length",
    bytes: "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n",
    is: '304 "" +',
  },
  {
    name: "304 with chunked",
    bytes: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
    is: '304 "" +',
  },
  {
    name: "100 and 103 before",
    bytes:
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
    is: '200 "hi" +',
  },
  {
    name: "100 with a length",
    bytes: `HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\n${OK}Content-Length: 2\r\n\r\nhi`,
    is: '200 "hi" +',
  },
  { name: "flood of 1xx", bytes: "HTTP/1.1 102 P\r\n\r\n".repeat(5000), is: "malformed" },
  {
    name: "101 not asked for",
    bytes: "HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    is: "malformed",
  },
  { name: "extra bytes after it", bytes: `${OK}Content-Length: 2\r\n\r\nhiX`, is: '200 "hi"' },
  {
    name: "second response after it",
    bytes: `${OK}Content-Length: 2\r\n\r\nhi${OK}Content-Length: 2\r\n\r\nno`,
    is: '200 "hi"',
  },
  {
    name: "length and chunked",
    bytes: `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "equal lengths",
    bytes: `${OK}Content-Length: 2\r\ncontent-length: 2\r\n\r\nhi`,
    is: '200 "hi" +',
  },
  { name: "list of equal lengths", bytes: `${OK}Content-Length: 2, 2\r\n\r\nhi`, is: '200 "hi" +' },
  {
    name: "different lengths",
    bytes: `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!`,
    is: "malformed",
  },
  {
    name: "list of different lengths",
    bytes: `${OK}Content-Length: 2, 3\r\n\r\nhi!`,
    is: "malformed",
  },
  { name: "length -1", bytes: `${OK}Content-Length: -1\r\n\r\nhi`, is: "malformed" },
  { name: "length +2", bytes: `${OK}Content-Length: +2\r\n\r\nhi`, is: "malformed" },
  { name: "length 0x2", bytes: `${OK}Content-Length: 0x2\r\n\r\nhi`, is: "malformed" },
  { name: "length 1e0", bytes: `${OK}Content-Length: 1e0\r\n\r\nhi`, is: "malformed" },
  { name: "length empty", bytes: `${OK}Content-Length: \r\n\r\nhi`, is: "malformed" },
  {
    name: "length too large",
    bytes: `${OK}Content-Length: 99999999999999999999\r\n\r\nhi`,
    is: "malformed",
  },
  { name: "length x", bytes: `${OK}Content-Length: x\r\n\r\nhi`, is: "malformed" },
  {
    name: "space before the colon of a length",
    bytes: `${OK}Content-Length : 2\r\n\r\nhi`,
    is: "malformed",
  },
  {
    name: "gzip, chunked",
    bytes: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "chunked, identity",
    bytes: `${OK}Transfer-Encoding: chunked, identity\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "xchunked",
    bytes: `${OK}Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\nhi`,
    is: "malformed",
  },
  ...["chunked\x0b", "\x0cchunked", "chunked\xa0", "identity\x0b"].map((coding) => ({
    name: JSON.stringify(coding),
    bytes: `${OK}Transfer-Encoding: ${coding}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    is: "malformed",
  })),
  {
    name: "chunked and spaces",
    bytes: `${OK}Transfer-Encoding:\t chunked \t\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
    is: '200 "hi" +',
  },
  { name: "length 2\\x0b", bytes: `${OK}Content-Length: 2\x0b\r\n\r\nhi`, is: "malformed" },
  {
    name: "identity",
    bytes: `${OK}Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi`,
    is: '200 "hi" +',
  },
  {
    name: "chunked twice",
    bytes: `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "truncated length",
    bytes: `${OK}Content-Length: 5\r\n\r\nhi`,
    closes: true,
    is: "closed",
  },
  { name: "truncated chunk", bytes: `${CHUNKED}5\r\nhi`, closes: true, is: "closed" },
  {
    name: "truncated before last chunk",
    bytes: `${CHUNKED}2\r\nhi\r\n`,
    closes: true,
    is: "closed",
  },
  {
    name: "truncated after last chunk",
    bytes: `${CHUNKED}2\r\nhi\r\n0\r\n`,
    closes: true,
    is: "closed",
  },
  { name: "truncated status line", bytes: "HTTP/1.1 20", closes: true, is: "closed" },
  { name: "truncated head", bytes: `${OK}Content-Le`, closes: true, is: "closed" },
  { name: "nothing", bytes: "", closes: true, is: "closed" },
  { name: "only 1xx", bytes: "HTTP/1.1 100 Continue\r\n\r\n", closes: true, is: "closed" },
  { name: "chunk size zz", bytes: `${CHUNKED}zz\r\nhi\r\n0\r\n\r\n`, is: "malformed" },
  { name: "chunk size 0x2", bytes: `${CHUNKED}0x2\r\nhi\r\n0\r\n\r\n`, is: "malformed" },
  { name: "chunk size -2", bytes: `${CHUNKED}-2\r\nhi\r\n0\r\n\r\n`, is: "malformed" },
  { name: "chunk size empty", bytes: `${CHUNKED}\r\nhi\r\n0\r\n\r\n`, is: "malformed" },
  { name: "chunk size ;x", bytes: `${CHUNKED};x\r\n\r\n`, is: "malformed" },
  {
    name: "chunk size too large",
    bytes: `${CHUNKED}fffffffffffffffff\r\nhi`,
    is: "malformed",
  },
  {
    name: "chunk longer than its size",
    bytes: `${CHUNKED}2\r\nhiX\r\n0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "endless chunk extension",
    bytes: `${CHUNKED}2;${"x".repeat(100_000)}`,
    is: "malformed",
  },
  { name: "chunk line with LF alone", bytes: `${CHUNKED}2\nhi\n0\n\n`, is: "malformed" },
  {
    name: "endless trailers",
    bytes: `${CHUNKED}0\r\n${"X: y\r\n".repeat(20_000)}`,
    is: "too large",
  },
  {
    name: "lines with LF alone",
    bytes: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
    is: '200 "hi" +',
  },
  {
    name: "obs-fold",
    bytes: `${OK}X: a\r\n  b\r\n\tc\r\nContent-Length: 0\r\n\r\n`,
    is: '200 "" + | X=a b c',
  },
  {
    name: "first field folded",
    bytes: `${OK} X: a\r\nContent-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "bytes above 127",
    bytes: `${OK}X: \xe9\xa0\r\nContent-Length: 0\r\n\r\n`,
    is: '200 "" + | X=\xe9\xa0',
  },
  {
    name: "line without colon",
    bytes: `${OK}nonsense\r\nContent-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  { name: "empty name", bytes: `${OK}: x\r\nContent-Length: 0\r\n\r\n`, is: "malformed" },
  {
    name: "NUL in a value",
    bytes: `${OK}X: a\0b\r\nContent-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "CR in a value",
    bytes: `${OK}X: a\rb\r\nContent-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "oversized header",
    bytes: `${OK}X: ${"x".repeat(70_000)}\r\nContent-Length: 0\r\n\r\n`,
    is: "too large",
  },
  {
    name: "endless status line",
    bytes: `HTTP/1.1 200 ${"x".repeat(200_000)}`,
    is: "too large",
  },
  { name: "many headers", bytes: `${OK}${"X: y\r\n".repeat(20_000)}\r\n`, is: "too large" },
  {
    name: "garbage before the status line",
    bytes: `garbage\r\n${OK}Content-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  {
    name: "empty line before the status line",
    bytes: `\r\n${OK}Content-Length: 0\r\n\r\n`,
    is: "malformed",
  },
  { name: "another protocol", bytes: "SSH-2.0-OpenSSH_9.2\r\n", is: "malformed" },
  {
    name: "HTTP/2.0",
    bytes: "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
    is: "malformed",
  },
  {
    name: "HTTP/1.9",
    bytes: "HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n",
    is: "malformed",
  },
  {
    name: "status 099",
    bytes: "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n",
    is: "malformed",
  },
  {
    name: "status 20",
    bytes: "HTTP/1.1 20 X\r\nContent-Length: 0\r\n\r\n",
    is: "malformed",
  },
  {
    name: "status 2000",
    bytes: "HTTP/1.1 2000 X\r\nContent-Length: 0\r\n\r\n",
    is: "malformed",
  },
  { name: "status 999", bytes: "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", is: '999 "" +' },
  { name: "HTTP/0.9", bytes: "<html>hi</html>", closes: true, is: "malformed" },
];
