import { isEqual } from "../../base/value/compare.ts";
import { typeName, type Value } from "../../base/value/value.ts";
import { Fault, quoted } from "../fault.ts";
import { define, type FunctionBodies } from "./function.ts";

/** Functions for tests: whether a value is one of several, close to a number, or of a form. */
export const BODIES: FunctionBodies = {
  one_of: define(
    "Whether the list contains the value.",
    (value: Value, list: readonly Value[]) => list.some((item) => isEqual(item, value)),
  ),
  approx: define(
    "Whether two numbers differ by at most `tolerance`.",
    (a: number | bigint, b: number | bigint, tolerance: number | bigint) => {
      if (!(tolerance >= 0)) throw new Fault("approx() needs a tolerance of 0 or more");
      const areWhole = typeName(a) === "int" && typeName(b) === "int";
      const distance = areWhole ? Number(BigInt(a) - BigInt(b)) : Number(a) - Number(b);
      return a === b || Math.abs(distance) <= tolerance;
    },
  ),
  semver: define(
    "A string that compares with others as the versions do: `semver(a) < semver(b)`.",
    (version: string) => comparableVersion(version),
  ),
  is_uuid: define(
    "Whether the value is a UUID.",
    matcher(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i),
  ),
  is_email: define(
    "Whether the value has the form of an email address.",
    matcher(/^[^\s@<>()",;:]{1,64}@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z\d-]{2,63}$/i),
  ),
  is_url: define(
    "Whether the value is an absolute URL.",
    (value: Value) => typeof value === "string" && !/\s/.test(value) && URL.canParse(value),
  ),
  is_ip: define("Whether the value is an IPv4 or IPv6 address.", isAddress),
  is_iso_date: define(
    "Whether the value is a date, or a date and time, of ISO 8601: `2025-03-01T12:00:00Z`.",
    isIsoDate,
  ),
};

const VERSION =
  /^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([\da-z-]+(?:\.[\da-z-]+)*))?(?:\+[\da-z.-]+)?$/i;

/** A semantic version as a string that sorts like the version. */
function comparableVersion(version: string): string {
  const found = version.length <= 256 ? VERSION.exec(version) : null;
  const [, major, minor, patch, before] = found ?? [];
  const hasZero = before?.split(".").some((part) => /^0\d+$/.test(part));
  if (major === undefined || minor === undefined || patch === undefined || hasZero) {
    throw new Fault(
      `semver() cannot read ${quoted(version)}`,
      "write a version like 1.2.3 or 1.2.3-rc.1",
    );
  }
  const core = [major, minor, patch].map(comparableNumber).join(".");
  // A release sorts after its pre-releases, as "~" sorts after "-".
  if (before === undefined) return `${core}~`;
  const parts = before.split(".").map((part) =>
    /^\d+$/.test(part) ? comparableNumber(part) : `_${part}`
  );
  // "!" comes before all that a part may hold.
  return `${core}-${parts.join("!")}`;
}

/** A longer number is larger: a letter for its length comes first. */
function comparableNumber(digits: string): string {
  if (digits.length > 26) throw new Fault("semver() got a number of more than 26 digits");
  return String.fromCharCode(64 + digits.length) + digits;
}

/** Values of other types, and texts too long for the form, do not match. */
function matcher(form: RegExp): (value: Value) => boolean {
  return (value) => typeof value === "string" && value.length <= 320 && form.test(value);
}

function isAddress(value: Value): boolean {
  if (typeof value !== "string" || value.length > 45) return false;
  if (/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(value)) return true;
  return /^[\da-f:.]+$/i.test(value) && value.includes(":") && URL.canParse(`http://[${value}]/`);
}

const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

function isIsoDate(value: Value): boolean {
  const [, year, month, day] = typeof value === "string" && value.length <= 64
    ? ISO.exec(value) ?? []
    : [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(2000, Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}
