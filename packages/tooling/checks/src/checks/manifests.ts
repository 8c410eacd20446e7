/** The composer builds from manifests alone, so a manifest that is wrong is a binary that is wrong. */
import toml from "@iarna/toml";
import { FEATURE_KINDS } from "@svc/contract";
import * as v from "valibot";
import type { Check, Finding } from "../check.ts";
import { lineWith, type PackageFile, packagesOf } from "../package-files.ts";
import type { Workspace } from "../workspace.ts";

export const manifests: Check = {
  id: "manifests",
  rule: "Every feature has a valid manifest and a README, its names agree, and a profile has it or it says why none does.",
  find(workspace) {
    const profiles = profilesOf(workspace);
    const features = packagesOf(workspace).filter(({ folder }) => folder.startsWith("packages/features/"));
    const known = new Set(features.map(({ folder }) => idOf(folder)));
    return [
      ...features.flatMap((one) => judge(one, profiles, workspace)),
      ...[...profiles.planned]
        .filter((id) => known.has(id))
        .map((id) => ({
          file: PLANNED,
          line: lineWith(workspace.files.get(PLANNED) ?? "", id),
          message: `${id} is planned, but packages/features/${id} exists.`,
          fix: "Remove it from the planned features.",
        })),
    ];
  },
};

const PLANNED = "profiles/planned.toml";

const text = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty"));
const names = v.array(text, "must be a list of names");

const apiPaths = v.array(
  v.pipe(text, v.regex(/^\/api(?:\/(?:[a-z0-9-]+|\{[a-z_]+\}))+$/, "must be paths below /api/")),
);

const manifest = v.strictObject({
  id: v.optional(text),
  flag: v.optional(text),
  kind: v.picklist(FEATURE_KINDS, `must be one of ${FEATURE_KINDS.join(", ")}`),
  summary: v.pipe(text, v.maxLength(160, "must have at most 160 characters")),
  title: v.optional(v.pipe(text, v.maxLength(40, "must have at most 40 characters"))),
  aliases: v.optional(v.record(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "must be names such as pager")), text)),
  toolsOff: v.optional(v.strictObject({ reason: text, hint: text })),
  sections: v.optional(names),
  tools: v.optional(names),
  commands: v.optional(names),
  children: v.optional(names),
  ingress: v.optional(
    v.array(v.pipe(text, v.regex(/^(?:\/[a-z0-9-]+)+$/, "must be public paths such as /provider-a"))),
  ),
  routes: v.optional(apiPaths),
  open: v.optional(apiPaths),
  platforms: v.optional(v.array(v.picklist(["linux", "darwin", "win32"], "must be linux, darwin or win32"))),
  needs: v.optional(names),
  native: v.optional(names),
});

function judge(one: PackageFile, profiles: Profiles, workspace: Workspace): Finding[] {
  const id = idOf(one.folder);
  const source = workspace.files.get(one.file) ?? "";
  const found: Finding[] = [];
  const tell = (key: string, message: string, fix: string): void => {
    found.push({ file: one.file, line: lineWith(source, `"${key}"`), message, fix });
  };
  if (one.name !== `@svc/${id}`) tell("name", `The package of ${one.folder} is not named @svc/${id}.`, "Rename it.");
  if (!workspace.files.has(`${one.folder}/README.md`)) {
    found.push({
      file: one.folder,
      message: "No README.md.",
      fix: "Describe the feature, its config and how to try it.",
    });
  }
  const block = one.json["svc"];
  if (block === undefined) {
    tell("name", 'There is no "svc" manifest.', "Add it; packages/core/contract/src/manifest.ts has its keys.");
    return found;
  }
  const result = v.safeParse(manifest, block);
  for (const issue of result.issues ?? []) {
    const key = String(issue.path?.[0]?.key ?? "svc");
    const message = issue.expected === "never" ? "is not a key of a manifest" : issue.message;
    tell(
      key,
      `svc.${key} ${issue.received === "undefined" ? "is missing" : message}.`,
      "See packages/core/contract/src/manifest.ts.",
    );
  }
  if (result.success && result.output.id !== undefined && result.output.id !== id) {
    tell("id", `svc.id is not the folder's name ${id}.`, "Leave it out, or make it equal.");
  }
  const { routes = [], open = [] } = result.success ? result.output : {};
  for (const path of open.filter((one) => !routes.includes(one))) {
    tell("open", `svc.open has ${path}, which is not one of svc.routes.`, "List it in both.");
  }
  const excused = OUTSIDE_PROFILES.test(workspace.files.get(`${one.folder}/README.md`) ?? "");
  if (profiles.features.has(id) === excused) {
    tell("svc", excused ? `A profile has ${id}; its README says that none does.` : `No profile has ${id}.`, EXCUSE);
  }
  return found;
}

const OUTSIDE_PROFILES = /^Not in a profile: \S.*$/m;
const EXCUSE =
  'List it in profiles/*.toml, or say in its README "Not in a profile: <why>": then only --with brings it.';

const idOf = (folder: string): string => folder.slice("packages/features/".length);

interface Profiles {
  readonly features: ReadonlySet<string>;
  readonly planned: ReadonlySet<string>;
}

function profilesOf(workspace: Workspace): Profiles {
  const features = new Set<string>();
  const planned = new Set<string>();
  for (const [file, source] of workspace.files) {
    if (!/^profiles\/[^/]+\.toml$/.test(file)) continue;
    const content = toml.parse(source);
    if (file === PLANNED) for (const id of Object.keys(content)) planned.add(id);
    else for (const id of Array.isArray(content["features"]) ? content["features"] : []) features.add(String(id));
  }
  return { features, planned };
}
