/** package.json says what the sources import: no more (dead weight in a lockfile), no less (works only by hoisting). */
import { isBuiltin } from "node:module";
import type { Check, Finding } from "../check.ts";
import { lineWith, type PackageFile, packageName, packagesOf, rootTools } from "../package-files.ts";
import { isTest, type Source, walk } from "@svc/source";
import type { Workspace } from "../workspace.ts";

export const dependencies: Check = {
  id: "dependencies",
  rule: "A package.json names what the package's sources and tests import, and no packages depend on each other in a circle.",
  find(workspace) {
    const tools = rootTools(workspace);
    const packages = packagesOf(workspace);
    const found = packages.flatMap((one) => {
      const sources = workspace.sources((file) => file.startsWith(`${one.folder}/`));
      return undeclared(one, sources, tools).concat(unused(one, sources, workspace));
    });
    return [...found, ...circles(packages, workspace)];
  },
};

/** Tests count: a task runner orders packages by all their dependencies, and refuses to run anything when it can't. */
function circles(packages: readonly PackageFile[], { files }: Workspace): Finding[] {
  const byName = new Map(packages.map((one) => [one.name, one]));
  const next = (one: PackageFile): PackageFile[] =>
    [...one.dependencies, ...one.devDependencies].flatMap((name) => byName.get(name) ?? []);
  const reaches = (from: PackageFile, to: PackageFile, seen = new Set<PackageFile>()): boolean =>
    next(from).some((one) => one === to || (!seen.has(one) && reaches(one, to, seen.add(one))));
  return packages.flatMap((one) =>
    next(one)
      .filter((other) => other === one || reaches(other, one))
      .map((other) => ({
        file: one.file,
        line: lineWith(files.get(one.file) ?? "", `"${other.name}"`),
        message: `${one.name} depends on ${other.name}, which depends on it.`,
        fix: "Take what both need into a third package, or do without it in the tests of the lower one.",
      })),
  );
}

function undeclared(one: PackageFile, sources: readonly Source[], tools: ReadonlySet<string>): Finding[] {
  return sources.flatMap(({ file, imports }) =>
    imports.flatMap(({ specifier, line }) => {
      if (specifier.startsWith(".") || isBuiltin(specifier)) return [];
      const name = packageName(specifier);
      if (name === one.name || one.dependencies.has(name)) return [];
      // Tests, examples and config files never ship: what the root or the package installs for development is enough.
      const isExample = file.startsWith(`${one.folder}/examples/`);
      const development = isTest(file) || isExample || file === `${one.folder}/${file.split("/").at(-1) ?? ""}`;
      if (development && (one.devDependencies.has(name) || tools.has(name))) return [];
      const where = development ? "dependencies or devDependencies" : "dependencies";
      const fix = `Add it to ${where} of ${one.file} (version: catalog: or workspace:*).`;
      return [{ file, line, message: `${name} is imported but not in the package's ${where}.`, fix }];
    }),
  );
}

function unused(one: PackageFile, sources: readonly Source[], workspace: Workspace): Finding[] {
  const shipped = namesIn(sources.filter(({ file }) => !isTest(file)));
  const all = namesIn(sources);
  const tell = (name: string, group: string, where: string): Finding => ({
    file: one.file,
    line: lineWith(workspace.files.get(one.file) ?? "", `"${name}"`),
    message: `${name} is in ${group} but nothing in ${where} imports it.`,
    fix: "Remove it, or move it to the group that it is used in.",
  });
  return [
    ...[...one.dependencies]
      .filter((name) => !shipped.has(name))
      .map((name) => tell(name, "dependencies", "its sources")),
    ...[...one.devDependencies]
      .filter((name) => !all.has(name) && !name.startsWith("@types/"))
      .map((name) => tell(name, "devDependencies", "the package")),
  ];
}

/** What the files import or name in a string: a program started by its path counts as used. */
function namesIn(sources: readonly Source[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { program } of sources) {
    walk(program, (node) => {
      const text =
        node.type === "Literal" ? node.value : node.type === "TemplateElement" ? node.value.cooked : undefined;
      if (typeof text !== "string" || text.startsWith(".")) return;
      names.add(packageName(text));
      for (const part of text.matchAll(/node_modules\/(?:\.bin\/)?(@[^/]+\/[^/]+|[^/@.]+)/g)) names.add(part[1] ?? "");
    });
  }
  return names;
}
