/** The Construction phase: synchronous, without any I/O, nothing shared, nothing but what the manifest declares. */
import type { FeatureDefinition } from "@svc/contract";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { demand, type Check } from "../check.ts";
import { constructGuarded } from "../io-guard/construct-guarded.ts";
import type { ConstructReport } from "../io-guard/construct.ts";
import { instanceOf } from "./instance.ts";
import { manifestOf } from "./manifest.ts";
import { moduleStateBelow } from "./module-state.ts";
import { sharedByConstructions } from "./shared-state.ts";
import { staticToolChecks } from "./tool-conformance.ts";

interface Subject {
  readonly root: string;
  readonly config?: Readonly<Record<string, unknown>>;
  /** file: URL. */
  readonly entry: string;
}

export const constructionChecks = (definition: FeatureDefinition, { root, config, entry }: Subject): Check[] => {
  let report: Promise<ConstructReport> | undefined;
  const constructed = (): Promise<ConstructReport> =>
    (report ??= constructGuarded({ entry, id: definition.id, config }));
  return [
    {
      name: "importing and constructing does no I/O, starts no timer and reads no environment",
      async run() {
        const { violations, error } = await constructed();
        const list = violations.map(({ what, at }) => `\n  ${what}\n    ${at}`).join("");
        demand(violations.length === 0, `during construction:${list}`);
        demand(error === undefined, `construction failed: ${error}`);
      },
    },
    {
      name: "create() is synchronous and returns its contributions",
      async run() {
        const made: unknown = (await instanceOf(definition, config)).made;
        demand(typeof made === "object" && made !== null, "create() must return an object");
        if ("then" in made) void Promise.resolve(made).catch(() => undefined);
        demand(!("then" in made), "create() returned a promise");
      },
    },
    {
      name: "it contributes only the tools that its manifest declares",
      async run() {
        const { tools } = manifestOf(root).manifest;
        for (const { name } of (await instanceOf(definition, config)).made.tools ?? []) {
          demand(tools.includes(name), `the tool ${JSON.stringify(name)} is not among the manifest's tools`);
        }
      },
    },
    {
      name: "it serves only the routes that its manifest declares, and opens only those",
      async run() {
        const { routes, open } = manifestOf(root).manifest;
        for (const { path, access } of (await instanceOf(definition, config)).made.routes ?? []) {
          demand(routes.includes(path), `${path} is not among the manifest's routes`);
          demand(access !== "open" || open.includes(path), `${path} is not among what the manifest lists as open`);
        }
      },
    },
    {
      name: "every tool has a sound name, description, approval and schema",
      async run() {
        for (const tool of (await instanceOf(definition, config)).made.tools ?? []) {
          for (const check of staticToolChecks(tool)) await check.run();
        }
      },
    },
    {
      name: "its modules keep no state",
      run() {
        const found = moduleStateBelow(resolve(root), dirname(fileURLToPath(entry)));
        demand(found.length === 0, found.join("\n"));
      },
    },
    {
      name: "two instances share nothing that can change",
      async run() {
        const [first, second] = await Promise.all([instanceOf(definition, config), instanceOf(definition, config)]);
        demand(first.made !== second.made, "create() returned one object twice");
        const shared = sharedByConstructions(first.made, second.made);
        demand(shared === undefined, `both hold the same changeable object at ${shared}`);
      },
    },
    {
      name: "nor out of sight, in private fields and in what functions close over",
      async run() {
        const { shared } = await constructed();
        demand(shared === undefined, `both hold the same changeable object at ${shared}`);
      },
    },
  ];
};
