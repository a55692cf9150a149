import { assertEquals } from "@std/assert";
import { readExemptions } from "../../../../src/action/http/connection/proxy.ts";

/** `NO_PROXY`, what is reached without a proxy, and what is not; a port is 443 if not given. */
const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]"], [
    "example.com",
    "10.0.0.1",
  ]],
  ["example.com", ["example.com", "EXAMPLE.com", "example.com.", "a.b.example.com"], [
    "notexample.com",
    "example.com.evil.org",
    "com",
  ]],
  [".example.com", ["a.example.com", "a.b.example.com"], ["example.com", "aexample.com"]],
  ["*.example.com", ["a.example.com"], ["example.com"]],
  ["example.com:8443", ["example.com:8443", "a.example.com:8443"], [
    "example.com",
    "example.com:80",
  ]],
  [".example.com:80", ["a.example.com:80"], ["a.example.com", "example.com:80"]],
  ["10.0.0.7", ["10.0.0.7", "10.0.0.7:80"], ["10.0.0.70", "a.10.0.0.7.example"]],
  ["10.0.0.7:80", ["10.0.0.7:80"], ["10.0.0.7"]],
  ["10.0.0.0/8", ["10.0.0.1", "10.255.255.255"], ["11.0.0.1", "10.example.com", "[fd00::1]"]],
  ["192.168.1.0/30", ["192.168.1.3"], ["192.168.1.4"]],
  ["fd00::/8", ["[fd00::1]", "[fdff::2]"], ["[fe80::1]", "10.0.0.1"]],
  ["fd00::1", ["[fd00::1]"], ["[fd00::2]"]],
  ["[fd00::1]:8080", ["[fd00::1]:8080"], ["[fd00::1]", "[fd00::2]:8080"]],
  ["*", ["example.com", "10.0.0.1", "[fd00::1]"], []],
  [" a.example , ,b.example:80", ["a.example", "b.example:80"], ["b.example", "c.example"]],
];

for (const [rules, direct, proxied] of CASES) {
  Deno.test(`NO_PROXY="${rules}" decides what is reached without a proxy`, () => {
    const isExempt = readExemptions(rules);
    const found = (place: string) => {
      const [, host = "", port = "443"] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(place) ?? [];
      const [, address, own] = /^\[(.*)\](?::(\d+))?$/.exec(place) ?? [];
      return isExempt(address ?? host, Number(address === undefined ? port : own ?? 443));
    };
    assertEquals(direct.filter((place) => !found(place)), []);
    assertEquals(proxied.filter(found), []);
  });
}
