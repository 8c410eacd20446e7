/** The suite of a feature's kind is not a choice: every feature's tests call it, and one that has no suite yet joins it the day it exists. */
import type { Check, Finding } from "../check.ts";
import { type PackageFile, packagesOf } from "../package-files.ts";
import { isTest, type Source, walk } from "@svc/source";
import type { Workspace } from "../workspace.ts";

const TESTKIT = "packages/tooling/testkit/src/";

export const conformance: Check = {
  id: "conformance",
  rule: "Every feature's tests call featureConformance, and the suite of each kind of thing it contributes.",
  find(workspace) {
    const suites = suitesOf(workspace);
    return packagesOf(workspace)
      .filter(({ folder }) => folder.startsWith("packages/features/"))
      .flatMap((one) => missing(one, suites, workspace));
  },
};

function missing(one: PackageFile, suites: ReadonlySet<string>, workspace: Workspace): Finding[] {
  const tests = workspace.sources((file) => file.startsWith(`${one.folder}/`) && isTest(file));
  const called = new Set(tests.flatMap(callsOf));
  return wantedBy(one)
    .filter((suite) => suite === "featureConformance" || suites.has(suite))
    .filter((suite) => !called.has(suite))
    .map((suite) => ({
      file: `${one.folder}/test`,
      message: `No test calls ${suite}.`,
      fix: `Call ${suite} of @svc/testkit at the top level of a test file there.`,
    }));
}

/** A channel without a platform: people never see a message there, so the checks of visible effects don't apply. */
const EXCEPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["packages/features/voice-wake", ["channelConformance"]],
]);

/** The suite of the package's kind, and the tool suite for any package that also contributes tools. */
function wantedBy({ folder, json }: PackageFile): string[] {
  const manifest = (json["svc"] ?? {}) as { kind?: unknown; tools?: unknown };
  const kind = String(manifest.kind ?? "feature").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const tools = Array.isArray(manifest.tools) && manifest.tools.length > 0;
  const suites = ["featureConformance", `${kind}Conformance`, ...(tools ? ["toolConformance"] : [])];
  return [...new Set(suites)].filter((suite) => !EXCEPTIONS.get(folder)?.includes(suite));
}

/** Names like `toolConformance` that the testkit exports as a function. */
function suitesOf(workspace: Workspace): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { program } of workspace.sources((file) => file.startsWith(TESTKIT))) {
    for (const statement of program.body) {
      if (statement.type !== "ExportNamedDeclaration") continue;
      const { declaration } = statement;
      const id = declaration?.type === "FunctionDeclaration" ? declaration.id?.name : undefined;
      if (id?.endsWith("Conformance") === true) names.add(id);
    }
  }
  return names;
}

/** Suites imported from the testkit and called, anywhere but inside a function of another name's test. */
function callsOf({ program, imports }: Source): string[] {
  if (!imports.some(({ specifier }) => /^@svc\/testkit(?:\/|$)/.test(specifier))) return [];
  const names: string[] = [];
  walk(program, (node) => {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier") return;
    if (node.callee.name.endsWith("Conformance")) names.push(node.callee.name);
  });
  return names;
}
