/** A constructed backend in a service of fakes, but for the browser, the sites and the time, which are real. */
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type ClientId,
  type Contributions,
  type Json,
  SvcError,
  type Tool,
  type ToolContext,
  type Workspace,
} from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import * as v from "valibot";
import { demand, outcomeOf, errorText } from "../../check.ts";
import { fakeFeatureContext } from "../../feature-context.ts";
import { fakeToolContext } from "../../fake-tool-context.ts";
import { type HostileSites, startHostileSites } from "../../platforms/hostile-sites/sites.ts";
import { temporaryHome } from "../../temporary-home.ts";
import type { BrowserBench } from "./subject.ts";

/** What the tool tells, as a check reads it. */
export interface BrowserResult {
  readonly action: string;
  readonly backend: string;
  readonly url: string;
  readonly title: string;
  readonly content?: string;
  readonly untrusted?: string;
  readonly truncated?: boolean;
  readonly notes?: readonly string[];
  readonly dismissed_dialogs?: readonly { readonly kind: string; readonly message: string }[];
  readonly tabs?: readonly {
    readonly tab: number;
    readonly url: string;
    readonly title: string;
    readonly current: boolean;
  }[];
  readonly file?: { readonly path: string; readonly bytes: number };
}

export interface Fixture extends AsyncDisposable {
  readonly sites: HostileSites;
  readonly made: Contributions;
  /** Absolute path of the workspace that its calls have. */
  readonly workspace: string;
  /** Absolute path of `$SVC_HOME`. */
  readonly home: string;
  /** A call that must succeed. */
  call(input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<BrowserResult>;
  /** A call that must be refused with an SvcError, which it resolves with. */
  refusal(input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<SvcError>;
  /** The ref (`@e3`) of the first element whose line in a new snapshot has all these words. */
  ref(...words: string[]): Promise<string>;
}

export interface CallOptions {
  readonly client?: string;
  readonly signal?: AbortSignal;
}

/** `section`: keys of `[browser]` for this check alone. */
export async function browserFixture(
  { definition, subject }: BrowserBench,
  section: Readonly<Record<string, unknown>> = {},
): Promise<Fixture> {
  const home = temporaryHome();
  const sites = await startHostileSites();
  const workspace = join(home.path, "workspace");
  await mkdir(workspace);
  const own = typeof subject.config === "function" ? await subject.config(sites) : subject.config;
  const config = { ...DEFAULTS, enabled: true, allowed_domains: sites.allowedDomains, ...own, ...section };
  const context = fakeFeatureContext<unknown>(config, {
    clock: systemClock as never,
    homeFolder: home.path,
    ...(subject.child !== undefined && { child: subject.child }),
    resolve: (url) => sites.resolve(url),
  });
  const made = (await definition.load()).create(context);
  await made.register?.(new AbortController().signal);
  const tool = made.tools?.find(({ name }) => name === "browser") as Tool;
  demand(tool !== undefined, "it brings no tool browser");

  const run = async (input: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<Json> =>
    tool.run(v.parse(tool.input, input), toolContext(workspace, options));

  const fixture: Fixture = {
    sites,
    made,
    workspace,
    home: home.path,
    call: async (input, options) => (await run(input, options)) as unknown as BrowserResult,
    async refusal(input, options) {
      const outcome = await outcomeOf(() => run(input, options), LONGEST_CALL_MS);
      demand(outcome.kind === "rejected", `${String(input["action"])} ${outcome.kind}, and should be refused`);
      const { error } = outcome;
      demand(error instanceof SvcError, `it threw ${errorText(error)}, which is no SvcError`);
      return error;
    },
    async ref(...words) {
      const { content = "" } = await fixture.call({ action: "snapshot" });
      const line = content
        .split("\n")
        .find((text) => words.every((word) => text.includes(word)) && text.includes("ref="));
      const [, ref] = /ref=(@?[a-z0-9]+)\]/.exec(line ?? "") ?? [];
      demand(ref !== undefined, `no line of the snapshot has ${words.join(" and ")}: ${content.slice(0, 2000)}`);
      return ref.startsWith("@") ? ref : `@${ref}`;
    },
    async [Symbol.asyncDispose]() {
      await made.shutdown?.();
      await sites.close();
      await subject.close?.();
      home.remove();
    },
  };
  return fixture;
}

const LONGEST_CALL_MS = 150_000;

/** What the kernel makes of an empty section. */
const DEFAULTS = {
  native_headless: true,
  idle_secs: 300,
  computer_use_endpoint: "http://127.0.0.1:8787/v1/actions",
  computer_use_windows: [],
};

function toolContext(root: string, { client = "client-of-a-test", signal }: CallOptions): ToolContext {
  return {
    ...fakeToolContext(signal === undefined ? {} : { signal }),
    clientId: client as ClientId,
    workspace: folderWorkspace(root),
  };
}

/** Files of a real folder, as far as the browser needs them; what leads out of it is refused. */
function folderWorkspace(root: string): Workspace {
  const inside = (path: string): string => {
    const full = join(root, path);
    if (full !== root && !full.startsWith(`${root}/`)) throw new SvcError("PATH_OUTSIDE_WORKSPACE");
    return full;
  };
  return {
    root,
    async read(path, maxBytes, offset = 0) {
      const bytes = await readFile(inside(path));
      return { bytes: bytes.subarray(offset, offset + maxBytes), truncated: bytes.length > offset + maxBytes };
    },
    async write(path, content) {
      const chunks: Uint8Array[] = [];
      if (typeof content === "function") await content(async (chunk) => void chunks.push(chunk.slice()));
      else chunks.push(content);
      await mkdir(dirname(inside(path)), { recursive: true });
      await writeFile(inside(path), Buffer.concat(chunks), { flag: "wx" });
    },
    async list() {
      return { entries: [], truncated: false };
    },
    remove: async () => false,
  };
}

/** All files below a folder, relative to it. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

export const textOf = (fixture: Fixture, path: string): string => readFileSync(join(fixture.workspace, path), "utf8");
