import { assert, assertEquals } from "@std/assert";
import { MASK, Masker } from "../../src/secrets/masker.ts";

function masker(...secrets: string[]): Masker {
  const it = new Masker();
  for (const secret of secrets) it.add(secret);
  return it;
}

Deno.test("mask() replaces a secret with *** in any position", () => {
  const it = masker("s3cret-value");
  assertEquals(it.mask("a s3cret-value b s3cret-value"), "a *** b ***");
  assertEquals(it.mask("s3cret-value"), "***");
  assertEquals(it.mask("s3cret-valu"), "s3cret-valu");
});

Deno.test("mask() leaves nothing of secrets that overlap", () => {
  assertEquals(masker("abcdef", "defghi").mask("xabcdefghix"), "x***x");
  assertEquals(masker("abcdefgh", "cdefgh").mask("abcdefgh cdefgh"), "*** ***");
  assertEquals(masker("aaaaaa").mask("aaaaaaaaa"), "***");
});

Deno.test("mask() of a part recognizes secrets that go over its ends", () => {
  assertEquals(masker("0123456789").mask("ab0123456789cd", 0, 5), "ab***");
  assertEquals(masker("0123456789").mask("ab0123456789cd", 0, 13), "ab***c");
  assertEquals(masker("0123456789").mask("ab0123456789cd", 5), "***cd");
  assertEquals(masker("0123456789").mask("ab0123456789cd", 5, 9), "***");
  assertEquals(masker("0123456789").mask("ab0123456789cd", 12), "cd");
  assertEquals(masker("0123456789").mask("abcdef", 1, 3), "bc");
});

Deno.test("mask() leaves short secrets alone and hides each line of a long one", () => {
  assertEquals(masker("abc").mask("abc abc"), "abc abc");
  const key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nab\n-----END KEY-----";
  assertEquals(masker(key).mask("x MIIEvQIBADAN ab"), "x *** ab");
});

Deno.test("mask() finds what a mail has wrapped", () => {
  const it = masker("open-sesame-42=", "another-secret");
  const mail = "Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_open-ses?=\r\n =?UTF-8?Q?ame-42=3D_x?=\r\n" +
    "Content-Transfer-Encoding: quoted-printable\r\n\r\na another-=\r\nsecret b open-sesame-42=3D";
  const masked = "Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe_***_x?=\r\n" +
    "Content-Transfer-Encoding: quoted-printable\r\n\r\na *** b ***";
  assertEquals(it.mask(mail), masked);
  assertEquals(it.mask(JSON.stringify({ mail })), JSON.stringify({ mail: masked }));
});

/** Numbers that look random and are the same in every run. */
function random(seed: number): () => number {
  return () => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

const ALPHABET = "abcXYZ019 -_.~!*'()+/=&<>\"\\%#?:@;,$[]{}|^`\té漢🙂";

Deno.test("mask() finds random secrets in every encoding, at every offset", () => {
  const next = random(7);
  const characters = [...ALPHABET];
  const pick = () => characters[Math.floor(next() * characters.length)]!;
  for (let round = 0; round < 500; round++) {
    const secret = Array.from({ length: 6 + Math.floor(next() * 30) }, pick).join("");
    if (secret.trim().length < 8) continue;
    const before = Array.from({ length: Math.floor(next() * 5) }, pick).join("");
    const after = Array.from({ length: Math.floor(next() * 5) }, pick).join("");
    const it = masker(secret);
    const text = `${before}${secret}${after}`;
    const seen = {
      plain: text,
      url: encodeURIComponent(text),
      form: new URLSearchParams({ q: text }).toString(),
      json: JSON.stringify({ text }),
      json2: JSON.stringify({ body: JSON.stringify({ text }) }),
      html: text.replace(/[&<>"']/g, (mark) => ({
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&#39;",
      }[mark]!)),
    };
    for (const [encoding, encoded] of Object.entries(seen)) {
      const masked = it.mask(`<${encoded}>`);
      assert(masked.includes(MASK), `${encoding}: ${JSON.stringify(secret)} in ${masked}`);
    }
    const bytes = new TextEncoder().encode(text);
    const base64 = btoa(String.fromCharCode(...bytes));
    assert(it.mask(base64).includes(MASK), `base64: ${JSON.stringify(secret)} in ${base64}`);
    const url = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    assert(it.mask(url).includes(MASK), `base64url: ${JSON.stringify(secret)} in ${url}`);
  }
});

/** Encodings of a text, in which the same text may be encoded again. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  url: encodeURIComponent,
  form: (text) => new URLSearchParams({ q: text }).toString(),
  "lower-case url": (text) => encodeURIComponent(text).replace(/%../g, (it) => it.toLowerCase()),
  json: (text) => JSON.stringify(text),
  html: (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;"),
  base64: (text) => new TextEncoder().encode(text).toBase64(),
  base64url: (text) =>
    new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true }),
  hex: (text) => new TextEncoder().encode(text).toHex(),
  "upper-case hex": (text) => new TextEncoder().encode(text).toHex().toUpperCase(),
  "lower case": (text) => text.toLowerCase(),
  "upper case": (text) => text.toUpperCase(),
};

for (const [inner, first] of Object.entries(ENCODINGS)) {
  Deno.test(`mask() finds a secret in ${inner}, and that in every other encoding`, () => {
    const next = random(13);
    const characters = [..."abcXYZ0189 -_.~!*'()+/=&<>\"\\#?:@;,$[]{}|^"];
    const textOf = (length: number) =>
      Array.from({ length }, () => characters[Math.floor(next() * characters.length)]!).join("");
    for (let round = 0; round < 40; round++) {
      const secret = `a${textOf(9 + Math.floor(next() * 20))}z`;
      const it = masker(secret);
      const once = first(`${textOf(Math.floor(next() * 4))}${secret}${textOf(3)}`);
      for (const [outer, second] of Object.entries(ENCODINGS)) {
        // Base64 in upper case cannot be decoded.
        if (outer.endsWith("case") && inner.startsWith("base64")) continue;
        const masked = it.mask(`<${second(once)}>`);
        assert(
          masked.includes(MASK),
          `${outer} of ${inner}: ${JSON.stringify(secret)} in ${masked}`,
        );
      }
    }
  });
}

Deno.test("mask() takes the passwords out of all URLs, and nothing that looks like one", () => {
  const it = new Masker();
  assertEquals(
    it.mask("see postgres://me:pw@db/x, mail a@b"),
    "see postgres://me:***@db/x, mail a@b",
  );
  for (
    const text of [
      "http://localhost:80, a@b.com",
      "http://h:80/a@b",
      "http://me@h",
      "http://{{u}}:{{p}}@h",
    ]
  ) {
    assertEquals(it.mask(text), text);
  }
});

Deno.test("mask() of a text without secrets is that text", () => {
  const text = ALPHABET.repeat(50);
  assertEquals(masker("not in there").mask(text), text);
  assertEquals(new Masker().mask(text), text);
});

/** A text in lines of that many characters. */
function wrap(text: string, width: number, end: string): string {
  return text.match(new RegExp(`.{1,${width}}`, "g"))!.join(end);
}

Deno.test("mask() sees base64 through the line breaks in it", () => {
  for (const secret of ["short-secret", "a-long-token-of-many-characters-".repeat(5)]) {
    const it = masker(secret);
    for (const before of ["", "a", "ab", "some words before it: ", "x".repeat(50)]) {
      const encoded = btoa(`${before}${secret}.`);
      const first = Math.ceil(before.length * 8 / 6);
      const last = Math.floor((before.length + secret.length) * 8 / 6);
      const expected = `<${encoded.slice(0, first)}***${encoded.slice(last)}>`;
      for (const width of [20, 60, 64, 76]) {
        for (const end of ["\n", "\r\n", "\n    ", "\\n", "\\r\\n"]) {
          const masked = it.mask(`<${wrap(encoded, width, end)}>`);
          assertEquals(masked.replaceAll(end, ""), expected);
        }
      }
    }
  }
});

Deno.test("mask() of a part recognizes base64 in lines that goes over its ends", () => {
  const it = masker("a-long-token-of-many-characters");
  const wrapped = wrap(btoa("a-long-token-of-many-characters"), 20, "\n");
  assertEquals(it.mask(`ab${wrapped}`, 0, 6), "ab***");
  assertEquals(it.mask(`${wrapped}-ab`, 10), "***w==-ab");
});

Deno.test("mask() leaves the line breaks of other texts alone", () => {
  const text = "one\ntwo\nabcdefghij\nklm\r\n  three\\nfour\n\nfive\n";
  assertEquals(masker("threefour", "fghijklm").mask(text), text);
  assertEquals(masker("a-secret").mask(`a\na-secret\nb`), "a\n***\nb");
});

Deno.test("mask() finds secrets however few of their characters were encoded", () => {
  const secret = "Zq7\"Wk/+ü&<pX>'9\\v {L}^`m%T漢🙂";
  const it = masker(secret);
  const units = [...secret];
  const percents = (text: string) =>
    [...new TextEncoder().encode(text)]
      .map((byte) => "%" + byte.toString(16).padStart(2, "0")).join("");
  const escapes = (text: string) =>
    text.split("").map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join("");
  const path = new URL(`http://host/${secret}`);
  const seen: Record<string, string> = {
    "a raw query": new URL(`http://host/?q=${secret}`).href.slice("http://host/?q=".length),
    "a raw path": path.href.slice("http://host/".length),
    "a raw path in JSON": JSON.stringify(path.href.slice("http://host/".length)).slice(1, -1),
    "all of it encoded": percents(secret),
    "all of it escaped": escapes(secret),
    "encoded twice": encodeURIComponent(encodeURIComponent(secret)),
    "a raw query in HTML": new URL(`http://host/?q=${secret}`).href.slice("http://host/?q=".length)
      .replaceAll("&", "&amp;"),
    "a raw query in JSON that escapes ampersands": JSON.stringify(
      new URL(`http://host/?q=${secret}`).href.slice("http://host/?q=".length),
    ).slice(1, -1).replaceAll("&", "\\u0026"),
    "JSON in JSON in JSON in JSON": [1, 2, 3, 4].reduce(
      (text) => JSON.stringify(text).slice(1, -1),
      secret,
    ),
    "JSON in a query": encodeURIComponent(JSON.stringify(secret).slice(1, -1)),
    "a query in JSON": JSON.stringify(encodeURI(secret)).slice(1, -1),
    "JSON with some escapes": JSON.stringify(secret).slice(1, -1)
      .replace(/[<>&]/g, escapes),
    "JSON with others": units.map((unit) =>
      /["'+<>&`]/.test(unit) || unit > "\x7e"
        ? escapes(unit).replace(/u..../g, (code) => "u" + code.slice(1).toUpperCase())
        : unit === "\\"
        ? "\\\\"
        : unit
    ).join(""),
    "JSON in HTML": JSON.stringify(secret).slice(1, -1).replaceAll("&", "&amp;")
      .replaceAll('"', "&quot;").replaceAll("<", "&lt;"),
    "HTML with numbers": units.map((unit) => `&#${unit.codePointAt(0)};`).join(""),
    "HTML with hexadecimal numbers": units.map((unit) => `&#X${unit.codePointAt(0)!.toString(16)};`)
      .join(""),
    "base64 in a query": encodeURIComponent(
      btoa(String.fromCharCode(...new TextEncoder().encode(secret))),
    ).replace(/(%3D)*$/, ""),
  };
  for (const [how, encoded] of Object.entries(seen)) {
    const masked = it.mask(`<${encoded}> ${encoded}`);
    assert(/^<\*\*\*\w?> \*\*\*\w?$/.test(masked), `${how}: ${encoded} in ${masked}`);
    assertEquals(it.mask(`ab${encoded}`, 0, 4), "ab***", how);
  }
});

Deno.test("mask() takes out no more than the characters of an encoded secret", () => {
  const it = masker("a secret ü");
  assertEquals(it.mask("%41%20a%20secret%20%C3%BC%42"), "%41%20***%42");
  assertEquals(it.mask("x=1&q=a+secret+%c3%bc&b=2"), "x=1&q=***&b=2");
  assertEquals(it.mask('{"\\u0041":"a secret \\u00fc\\u0042"}'), '{"\\u0041":"***\\u0042"}');
  assertEquals(it.mask("&lt;a secret &#252;&gt;"), "&lt;***&gt;");
  assertEquals(
    it.mask("100% of %zz \\x &unknown; %C3 a secret"),
    "100% of %zz \\x &unknown; %C3 a secret",
  );
});

Deno.test("mask() finds a secret in the form that URL parsing gives it", () => {
  const it = masker("abcdefgh#ijkl", "one%41two\tthree\\four");
  assertEquals(it.mask(new URL("http://host/?q=abcdefgh#ijkl").href), "http://host/?q=***");
  assertEquals(it.mask(`${new URL("http://host/?q=abcdefgh#ijkl").search} end`), "?q=*** end");
  assertEquals(it.mask(new URL("http://host/one%41two\tthree\\four").href), "http://host/***");
  assertEquals(it.mask(encodeURIComponent("one%41two\tthree\\four")), "***");
});
