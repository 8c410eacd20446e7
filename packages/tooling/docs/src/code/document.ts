/** The document of the HTTP interface, as a running service of this checkout answers it, without the routes of features. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CORE_ROUTES, openApiDocument } from "@svc/gateway/openapi";
import type { OpenApi } from "../pages/document.ts";

/** Throws when a route has a schema that the document can't say. */
export function readDocument(root: string): OpenApi {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return openApiDocument({ version, routes: CORE_ROUTES }) as unknown as OpenApi;
}
