/** `@svc/docs`: the pages that are made of the code, and the site they are in. Never in a binary. */
import { join } from "node:path";
import { ERRORS, EXIT } from "@svc/contract";
import { readCommands } from "./code/commands.ts";
import { readDocument } from "./code/document.ts";
import { readFeatures } from "./code/features.ts";
import { cliPage } from "./pages/cli.ts";
import { configPage } from "./pages/config.ts";
import { decisionPage } from "./pages/decisions.ts";
import { errorPage } from "./pages/errors.ts";
import { httpPage } from "./pages/http.ts";
import { openApiPage } from "./pages/openapi.ts";
import type { GeneratedPage } from "./pages/page.ts";
import { readmePage } from "./pages/readme.ts";

export type { GeneratedPage } from "./pages/page.ts";

const ROOT = join(import.meta.dirname, "../../../..");

/** Every page that is made of the code of this checkout. */
export async function generatedPages(root = ROOT): Promise<readonly GeneratedPage[]> {
  const [features, commands] = await Promise.all([readFeatures(root), readCommands(root)]);
  const document = readDocument(root);
  return [
    configPage(features),
    cliPage(commands, EXIT),
    errorPage(ERRORS),
    httpPage(document),
    openApiPage(document),
    decisionPage,
    readmePage,
  ];
}
