// @ts-self-types="./xpath_library.d.ts"

/** In JavaScript, because the types of the package bring those of browsers into every module. */
export async function importXpath() {
  return (await import("xpath")).default;
}
