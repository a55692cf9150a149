import { assert, assertEquals } from "@std/assert";
import type { Range } from "../../src/value/decoded.ts";
import { MASK, Masker } from "../../src/value/masker.ts";

function masker(...secrets: string[]): Masker {
  const it = new Masker();
  for (const secret of secrets) it.add(secret);
  return it;
}

Deno.test("mask() puts *** for a secret wherever it stands", () => {
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

Deno.test("mask() sees a secret whole that the limit would cut", () => {
  assertEquals(masker("0123456789").mask("ab0123456789cd", 5), "ab***");
  assertEquals(masker("0123456789").mask("ab0123456789cd", 13), "ab***c");
  assertEquals(masker("0123456789").mask("abcdef", 3), "abc");
});

Deno.test("mask() leaves short secrets alone and hides each line of a long one", () => {
  assertEquals(masker("abc").mask("abc abc"), "abc abc");
  const key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nab\n-----END KEY-----";
  assertEquals(masker(key).mask("x MIIEvQIBADAN ab"), "x *** ab");
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

Deno.test("mask() of a text without secrets is that text", () => {
  const text = ALPHABET.repeat(50);
  assertEquals(masker("not in there").mask(text), text);
  assertEquals(new Masker().mask(text), text);
});

Deno.test("cut() leaves out a secret that the cut goes through, and nothing else", () => {
  const it = masker("supersecret", "abcdef", "defghi");
  assertEquals(it.cut("1234567supersecret", 12), "1234567");
  assertEquals(it.cut("1234567supersecret", 7), "1234567");
  assertEquals(it.cut("1234567supersecret.", 18), "1234567supersecret");
  assertEquals(it.cut("1234567superman", 12), "1234567super");
  assertEquals(it.cut("-abcdefghi", 8), "-");
  assertEquals(new Masker().cut("abcdef", 3), "abc");
});

Deno.test("cutStart() leaves out the rest of a secret that the cut goes through, and nothing else", () => {
  const it = masker("supersecret", "abcdef", "defghi");
  assertEquals(it.cutStart("supersecret1234567", 5), "1234567");
  assertEquals(it.cutStart("supersecret1234567", 11), "1234567");
  assertEquals(it.cutStart("-supersecret", 1), "supersecret");
  assertEquals(it.cutStart("superman1234567", 5), "man1234567");
  assertEquals(it.cutStart("abcdefghi-", 1), "-");
  assertEquals(it.cutStart("abcdefghi-", 10), "");
  assertEquals(new Masker().cutStart("abcdef", 3), "def");
  // Looking at all of it again and again would take longer than a test may.
  assertEquals(masker("aaaaaa").cutStart(`${"a".repeat(2_000_000)}.`, 1_000_000), ".");
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

Deno.test("mask() sees a broken secret whole that the limit would cut", () => {
  const it = masker("a-long-token-of-many-characters");
  const wrapped = wrap(btoa("a-long-token-of-many-characters"), 20, "\n");
  assertEquals(it.mask(`ab${wrapped}`, 6), "ab***");
  assertEquals(it.cut(`ab\n${wrapped}`, 30), "ab\n");
  assertEquals(it.cutStart(`${wrapped}-ab`, 10), "w==-ab");
});

Deno.test("cutStart() leaves out a broken secret that nothing finds behind half a line", () => {
  const it = masker("a-long-token-of-many-characters");
  const wrapped = wrap(btoa("0123456789a-long-token-of-many-characters"), 20, "\n");
  // The first line would be too short for one of base64, and the other half no form of a secret.
  assertEquals(it.cutStart(wrapped, 12), "M=");
  assertEquals(it.cutStart(`0123\n${wrapped}`, 5), wrapped);
});

Deno.test("cut() and cutStart() leave nothing to see that mask() hides, wherever they cut", () => {
  const next = random(11);
  const below = (end: number) => Math.floor(next() * end);
  const oneOf = <T>(list: readonly T[]) => list[below(list.length)]!;
  const textOf = (characters: string, length: number) =>
    Array.from({ length }, () => oneOf([...characters])).join("");
  const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
  const writings: readonly ((text: string) => string)[] = [
    (text) => text,
    (text) => text.replaceAll("\n", "\r\n"),
    encodeURIComponent,
    (text) => encodeURIComponent(encodeURIComponent(text)),
    (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
    (text) => [...text].map((character) => `&#${character.codePointAt(0)};`).join(""),
    (text) => base64(`${"x".repeat(below(3))}${text}y`),
    (text) =>
      wrap(
        base64(`${"x".repeat(below(60))}${text}y`),
        oneOf([17, 20, 64]),
        oneOf(["\n", "\r\n", "\\n", "\n    "]),
      ),
  ];
  const alphabets = [ALPHABET, "ab", "aé€🙂", "a\\", "ab\n\r", "%25a", "&amp;#x"];
  for (let round = 0; round < 100; round++) {
    const first = textOf(oneOf(alphabets), 6 + below(40));
    const secrets = [first, first.slice(-4) + textOf(oneOf(alphabets), 4)];
    const it = masker(...secrets.map((secret) => secret.toWellFormed()));
    const text = Array.from({ length: 1 + below(5) }, () => {
      const written = oneOf(writings)(oneOf(secrets).toWellFormed());
      return textOf(oneOf([" .,\n", "ab", "\\ab"]), below(20)) +
        (next() < 0.3 ? written.slice(below(written.length)) : written);
    }).join("");
    const hidden = it.find(text);
    for (let at = 0; at <= text.length; at++) {
      const head = it.cut(text, at);
      const tail = it.cutStart(text, at);
      assert(text.slice(0, at).startsWith(head) && text.slice(at).endsWith(tail));
      const left = text.length - tail.length;
      const seen = [
        ...hidden.filter(({ start }) => start < head.length).filter(isSeen(it.find(head), 0)),
        ...hidden.filter(({ end }) => end > left).filter(isSeen(it.find(tail), left)),
      ];
      assertEquals(seen, [], JSON.stringify({ secrets, text, at, head, tail }));
    }
  }
});

Deno.test("cutEnd() leaves out a secret that has begun at the end, and nothing else", () => {
  const it = masker("supersecret", "secretary-2", "a b+c/d e?f");
  assertEquals(it.cutEnd("1 supersec"), "1 ");
  assertEquals(masker("supersecret").cutEnd("1 supersecret"), "1 supersecret");
  assertEquals(it.cutEnd("1 supersecretar"), "1 ");
  assertEquals(it.cutEnd("1 sup"), "1 sup");
  assertEquals(it.cutEnd("1 supper"), "1 supper");
  assertEquals(it.cutEnd("100%"), "100%");
  assertEquals(it.cutEnd("1 a b+"), "1 ");
  assertEquals(new Masker().cutEnd("abcdef"), "abcdef");
});

Deno.test("cutEnd() leaves at most three characters of a secret, however it is written", () => {
  const secret = "Zq7\"Wk/+ü&<pX>'9\\v {L}^`m%T漢🙂-and-some-more-to-fill-another-line";
  const it = masker(secret);
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(secret)));
  const url = encodeURIComponent(secret);
  const written = [
    secret,
    url,
    encodeURIComponent(url),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;"),
    [...secret].map((character) => `&#${character.codePointAt(0)};`).join(""),
    base64,
    wrap(base64, 20, "\n"),
    wrap(base64, 76, "\r\n"),
    wrap(base64, 64, "\\r\\n"),
  ];
  for (const form of written) {
    for (let end = 0; end < form.length; end++) {
      const left = it.mask(it.cutEnd(`. ${form.slice(0, end)}`)).slice(2).replace(MASK, "");
      const seen = left.replace(/%(?:25)*[\da-f]{0,2}|\\+(?:u[\da-f]*|.)?|&[^;]*;?/gi, "x");
      assert(seen.length < 5, `${left} of ${form.slice(0, end)}`);
    }
  }
});

/** Whether something of a range is in none of others, which begin so much later in the text. */
function isSeen(others: readonly Range[], offset: number) {
  return ({ start, end }: Range) =>
    !others.some((other) => other.start + offset <= start && other.end + offset >= end);
}

Deno.test("mask() leaves the line breaks of other texts alone", () => {
  const text = "one\ntwo\n0123456789abcdefghij\nklm\r\n  three\\nfour\n\nfive\n";
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
    assertEquals(it.mask(`ab${encoded}`, 4), "ab***", how);
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

Deno.test("mask() sees what a URL leaves of a secret that was put into it as it is", () => {
  const it = masker("abcdefgh#ijkl", "one%41two\tthree\\four");
  assertEquals(it.mask(new URL("http://host/?q=abcdefgh#ijkl").href), "http://host/?q=***");
  assertEquals(it.mask(`${new URL("http://host/?q=abcdefgh#ijkl").search} end`), "?q=*** end");
  assertEquals(it.mask(new URL("http://host/one%41two\tthree\\four").href), "http://host/***");
  assertEquals(it.mask(encodeURIComponent("one%41two\tthree\\four")), "***");
});
