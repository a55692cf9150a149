import { assert, assertEquals } from "@std/assert";
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
});

Deno.test("mask() leaves the line breaks of other texts alone", () => {
  const text = "one\ntwo\n0123456789abcdefghij\nklm\r\n  three\\nfour\n\nfive\n";
  assertEquals(masker("threefour", "fghijklm").mask(text), text);
  assertEquals(masker("a-secret").mask(`a\na-secret\nb`), "a\n***\nb");
});
