/** Everything `pnpm new` will write, worked out before the first byte is written. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { channelIdOf } from "@svc/runtime";
import { adopt } from "./adopt.ts";
import type { Fixture, Planned } from "./fixture.ts";
import { type Kind, PREFIX } from "./kinds.ts";
import type { Request } from "./request.ts";

export interface Plan {
  readonly id: string;
  /** Folder of the new package, from the root. */
  readonly folder: string;
  /** Text of its files, by path inside the folder. */
  readonly files: ReadonlyMap<string, string>;
  /** New text of files that exist, by path from the root. */
  readonly changes: ReadonlyMap<string, string>;
}

/** Throws USAGE for a name that is taken, and for a planned feature of a kind without a template. */
export function planPackage(request: Request, fixture: Fixture): Plan {
  if (request.kind === "plugin") return planPlugin(request.name);
  const planned = plannedFor(request, fixture);
  const id = planned?.id ?? `${PREFIX[request.kind]}${request.name}`;
  if (fixture.features.has(id)) throw taken(`packages/features/${id} exists already.`);
  const snake = request.name.replaceAll("-", "_");
  const section = planned?.sections?.[0] ?? (request.kind === "channel" ? `channels_config.${snake}` : snake);
  const tool = planned?.tools?.[0] ?? snake;
  const owner = request.kind === "tool" ? undefined : fixture.sections.get(section);
  // What is planned for a section of another's adds its keys to it; a name that merely collides does not.
  if (owner !== undefined && !planned) throw taken(`The config section [${section}] is owned by ${owner}.`);
  const owns = owner === undefined ? "section" : "extends";
  const bringer = request.kind === "tool" ? fixture.tools.get(tool) : undefined;
  if (bringer !== undefined) throw taken(`The tool ${tool} is brought by ${bringer}.`);

  const channel = channelIdOf({ id, [owns]: section });
  const path = planned?.ingress?.[0] ?? `/${request.name}`;
  const words: Words = { id, name: request.name, owns, section, tool, channel, path };
  const files = new Map(
    [...readTemplate(request.kind)].map(([path, text]) => [fill(path, words), fill(text, words)] as const),
  );
  files.set("package.json", withManifest(files.get("package.json") ?? "{}", planned));
  if (planned) files.set("README.md", inProfiles(files.get("README.md") ?? "", fixture, id));
  const changes = planned ? adopt(id, fixture.profiles) : new Map<string, string>();
  return { id, folder: `packages/features/${id}`, files, changes };
}

/** A separate folder beside the packages, ignored by git. */
function planPlugin(name: string): Plan {
  const words = { name, tool: name.replaceAll("-", "_") };
  const files = new Map([...readTemplate("plugin")].map(([path, text]) => [path, fill(text, words)] as const));
  return { id: name, folder: `${PLUGINS}/${name}`, files, changes: new Map() };
}

const PLUGINS = "plugins";

const TEMPLATES = join(import.meta.dirname, "../templates");

/** Text by path, of every file of a kind's template. */
function readTemplate(kind: Kind): Map<string, string> {
  const folder = join(TEMPLATES, kind);
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(paths.sort().map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]));
}

interface Words {
  readonly id: string;
  readonly name: string;
  readonly owns: "section" | "extends";
  readonly section: string;
  readonly tool: string;
  /** As in `Conversation.channel`. */
  readonly channel: string;
  /** Where a channel's platform posts. */
  readonly path: string;
}

/** `__name__` in a template is a word of the request; an unknown one is a mistake in the template. */
function fill(text: string, words: Partial<Words>): string {
  return text.replace(/__([a-z]+)__/g, (mark, word: string) => {
    const value = (words as unknown as Record<string, string>)[word];
    if (value === undefined) throw new SvcError("INTERNAL", `A template has an unknown mark ${mark}.`);
    return value;
  });
}

/** `pnpm new channel x` creates the planned `channel-x`, and `pnpm new tool x` the planned plain `x`. */
function plannedFor({ kind, name }: Request, { planned }: Fixture): (Planned & { id: string }) | undefined {
  for (const id of [`${PREFIX[kind]}${name}`, name]) {
    const found = planned.get(id);
    if (found === undefined) continue;
    if (found.kind === kind) return { ...found, id };
    throw taken(`profiles/planned.toml says ${id} is of the kind ${found.kind}.`, kindHint(found.kind, name));
  }
  return undefined;
}

const kindHint = (kind: string, name: string): string =>
  kind in PREFIX ? `Try: pnpm new ${kind} ${name}` : "That kind has no template; copy a feature of the same kind.";

/** The plan of a feature is its manifest. */
function withManifest(text: string, planned: (Planned & { id: string }) | undefined): string {
  if (planned === undefined) return text;
  const json = JSON.parse(text) as { svc: Record<string, unknown> };
  const { id: _, ...manifest } = planned;
  return `${JSON.stringify({ ...json, svc: { ...json.svc, ...manifest } }, null, 2)}\n`;
}

/** The template says that no profile has it; a planned feature's profiles are known. */
function inProfiles(readme: string, { profiles }: Fixture, id: string): string {
  const listed = [...profiles.values()].some((text) => text.includes(`"${id}"`));
  return listed ? readme.replace(/^Not in a profile:.*\n+/m, "") : readme;
}

const taken = (message: string, hint = "Choose another name."): SvcError => new SvcError("USAGE", message, { hint });
