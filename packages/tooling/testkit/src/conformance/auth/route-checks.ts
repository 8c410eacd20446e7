/** Which paths there are, and to whom they are open. */
import { readFileSync } from "node:fs";
import { ERRORS, type Route } from "@svc/contract";
import { type Check, demand } from "../../check.ts";
import { openFixture } from "./open.ts";
import type { AuthBench } from "./subject.ts";

export const routeChecks = (bench: AuthBench): Check[] => [
  {
    name: "it serves the paths that its manifest lists, and no others",
    async run() {
      const { routes } = manifestPaths(bench.subject.root);
      sameSet(pathsOf(await routesOf(bench, true)), routes);
    },
  },
  {
    name: "nothing is open that its section does not open",
    async run() {
      const open = (await routesOf(bench, false)).filter(({ access }) => access === "open");
      demand(open.length === 0, `open: ${pathsOf(open).join(", ")}`);
    },
  },
  {
    name: "what its section opens is what its manifest lists as open",
    async run() {
      const { open } = manifestPaths(bench.subject.root);
      sameSet(pathsOf((await routesOf(bench, true)).filter(({ access }) => access === "open")), open);
    },
  },
  {
    name: "every route says what it takes, what it answers and what it refuses",
    async run() {
      for (const { method, path, doc } of await routesOf(bench, true)) {
        const name = `${method} ${path}`;
        demand(doc.summary.endsWith("."), `the summary of ${name} is no sentence`);
        demand(
          Object.keys(doc.answers).every((status) => Number(status) < 400),
          `${name} answers an error as if it were none`,
        );
        demand(Object.keys(doc.answers).length > 0, `${name} answers nothing`);
        demand(method === "GET" || method === "DELETE" || doc.body !== undefined, `${name} takes any body`);
        for (const code of doc.errors ?? []) demand(code in ERRORS, `${name} throws ${code}, which is no code`);
      }
    },
  },
];

const routesOf = async (bench: AuthBench, open: boolean): Promise<readonly Route[]> =>
  (await openFixture(bench, open)).made.routes ?? [];

const pathsOf = (routes: readonly Route[]): string[] => [...new Set(routes.map(({ path }) => path))];

function sameSet(served: readonly string[], listed: readonly string[]): void {
  const unlisted = served.filter((path) => !listed.includes(path));
  const missing = listed.filter((path) => !served.includes(path));
  demand(unlisted.length === 0, `not in the manifest: ${unlisted.join(", ")}`);
  demand(missing.length === 0, `in the manifest only: ${missing.join(", ")}`);
}

function manifestPaths(root: string): { routes: readonly string[]; open: readonly string[] } {
  const json = JSON.parse(readFileSync(`${root}/package.json`, "utf8")) as {
    svc?: { routes?: readonly string[]; open?: readonly string[] };
  };
  return { routes: json.svc?.routes ?? [], open: json.svc?.open ?? [] };
}
