/** The static side of a feature: its names agree and nobody can change its definition. */
import type { FeatureDefinition } from "@svc/contract";
import { basename, resolve } from "node:path";
import { demand, type Check } from "../check.ts";
import { manifestOf } from "./manifest.ts";

export const definitionChecks = (definition: FeatureDefinition, root: string): Check[] => [
  {
    name: "id, folder, package name and manifest say one name",
    run() {
      const { id } = definition;
      const { packageName, manifest } = manifestOf(root);
      const folder = basename(resolve(root));
      demand(
        /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id),
        `the id ${JSON.stringify(id)} is not lower-case words joined by "-"`,
      );
      demand(folder === id, `the folder is ${JSON.stringify(folder)}, the id ${JSON.stringify(id)}`);
      const suffix = packageName.replace(/^@[^/]+\//, "").replace(/^svc-/, "");
      demand(suffix === id, `the package is ${JSON.stringify(packageName)}, the id ${JSON.stringify(id)}`);
      demand(manifest.id === undefined || manifest.id === id, `the manifest's id is not ${JSON.stringify(id)}`);
    },
  },
  {
    name: "the definition is frozen",
    run: () => demand(Object.isFrozen(definition), "wrap it in defineFeature()"),
  },
  {
    name: "the section is declared in the manifest",
    run() {
      const { section, extends: extended, config, when } = definition;
      const { manifest } = manifestOf(root);
      const sections = [section, extended].filter((name) => name !== undefined);
      demand(sections.length < 2, "it owns a section and extends one");
      for (const name of sections) {
        demand(manifest.sections.includes(name), `[${name}] is not among the manifest's sections`);
        demand(config !== undefined || when !== undefined, `[${name}] has no schema`);
      }
      demand(
        when === undefined || (extended !== undefined && config === undefined),
        "`when` is for a section of others",
      );
      demand(config === undefined || sections.length > 0, "it has a schema and no section");
    },
  },
];
