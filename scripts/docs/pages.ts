import { makeActionPages } from "./action_pages.ts";
import { makeChecksPage } from "./checks_page.ts";
import { makeCliPage } from "./cli_page.ts";
import { makeEnginePages } from "./engine_pages.ts";
import { makeColumnTypesPage } from "./column_types_page.ts";
import { makeEnvironmentPage } from "./environment_page.ts";
import { makeFunctionsPage } from "./functions_page.ts";
import { makeKeysPage } from "./keys_page.ts";
import type { Page } from "./page.ts";
import { makeReportsPage } from "./reports_page.ts";

/** Every page of the reference. */
export async function makePages(): Promise<Page[]> {
  return [
    makeCliPage(),
    makeEnvironmentPage(),
    makeKeysPage(),
    await makeFunctionsPage(),
    makeChecksPage(),
    makeReportsPage(),
    makeColumnTypesPage(),
    ...await makeActionPages(),
    ...await makeEnginePages(),
  ];
}
