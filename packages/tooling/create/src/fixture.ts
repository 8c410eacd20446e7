/** Existing ids, sections and tools, which a new package must not claim, and planned ones. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import toml from "@iarna/toml";
import { coreSections } from "@svc/config";

export interface Fixture {
  readonly root: string;
  /** Ids of packages in packages/features. */
  readonly features: ReadonlySet<string>;
  /** Who owns a config section, by section. */
  readonly sections: ReadonlyMap<string, string>;
  /** Who brings a tool, by its name. */
  readonly tools: ReadonlyMap<string, string>;
  /** What profiles/planned.toml says of features without a package. */
  readonly planned: ReadonlyMap<string, Planned>;
  /** Text of every profile, by path from the root. */
  readonly profiles: ReadonlyMap<string, string>;
}

/** A table of profiles/planned.toml. */
export interface Planned {
  readonly kind: string;
  readonly summary: string;
  readonly flag?: string;
  readonly sections?: readonly string[];
  readonly tools?: readonly string[];
  readonly ingress?: readonly string[];
  readonly platforms?: readonly string[];
  readonly native?: readonly string[];
}

export const PLANNED_FILE = "profiles/planned.toml";

export function readFixture(root: string): Fixture {
  const sections = new Map(Object.keys(coreSections).map((section) => [section, "the core"]));
  const tools = new Map<string, string>();
  const features = new Set<string>();
  for (const id of foldersWithPackage(join(root, "packages/features"))) {
    features.add(id);
    const { svc = {} } = JSON.parse(read(root, `packages/features/${id}/package.json`)) as { svc?: Partial<Planned> };
    for (const section of svc.sections ?? []) if (!sections.has(section)) sections.set(section, id);
    for (const tool of svc.tools ?? []) tools.set(tool, id);
  }
  const files = existsSync(join(root, "profiles")) ? readdirSync(join(root, "profiles")) : [];
  const profiles = new Map(
    files
      .filter((file) => file.endsWith(".toml"))
      .sort()
      .map((file) => [`profiles/${file}`, read(root, `profiles/${file}`)]),
  );
  const tables = toml.parse(profiles.get(PLANNED_FILE) ?? "") as unknown as Record<string, Planned>;
  return { root, features, sections, tools, planned: new Map(Object.entries(tables)), profiles };
}

const read = (root: string, file: string): string => readFileSync(join(root, file), "utf8");

const foldersWithPackage = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "package.json"))) : [];
