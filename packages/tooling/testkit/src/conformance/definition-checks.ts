/** The static side of a feature: its names agree and nobody can change its definition. */
import { type FeatureDefinition, featureIdOf } from "@svc/contract";
import { basename, resolve } from "node:path";
import { demand, type Check } from "../check.ts";
import { manifestOf } from "./manifest.ts";

export const definitionChecks = (definition: FeatureDefinition, root: string): Check[] => [
  {
    name: "id, folder, package name and manifest say one name",
    run() {
      const id = featureIdOf(definition);
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
      demand(
        definition.partOf === undefined || new RegExp(`^${id}(?:-[a-z0-9]+)+$`).test(definition.id),
        `the id of the part ${JSON.stringify(definition.id)} does not go on after "${id}-"`,
      );
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
      demand(definition.partOf === undefined || sections.length > 0, "a part of a feature has no section");
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

/** What the parts of one feature must be together: `definitions` is what its package exports. */
export const partChecks = (definitions: readonly FeatureDefinition[], root: string): Check[] => [
  {
    name: "the first of its parts is the feature, the others are parts of it, and each has another section",
    run() {
      const [feature, ...parts] = definitions;
      demand(feature !== undefined && feature.partOf === undefined, "the first one is not the feature itself");
      for (const { id, partOf } of parts) demand(partOf === feature.id, `${id} is not a part of ${feature.id}`);
      const ids = new Set(definitions.map(({ id }) => id));
      demand(ids.size === definitions.length, "two parts have one id");
      const sections = definitions.flatMap(({ section, extends: extended }) => section ?? extended ?? []);
      demand(sections.length === definitions.length, "one of them has no section");
      demand(new Set(sections).size === sections.length, "two parts have one section");
      const declared = manifestOf(root).manifest.sections;
      const missing = declared.filter((section) => !sections.includes(section));
      demand(
        missing.length === 0,
        `no part has ${missing.map((section) => `[${section}]`).join(", ")} of the manifest`,
      );
    },
  },
];
