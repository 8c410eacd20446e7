/** Where procedures are written, loaded with the first of them: most services are asked for none. */
import { dirname, join } from "node:path";
import type { SopDraftRequest } from "@svc/api";
import type { SopAuthor } from "@svc/gateway";
import { type Home, type LoadedConfig, resolveAgents } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";
import { rulesOf, type SopEdit, type SopLibrary, type Sops } from "@svc/sop";
import type { SopEditor } from "@svc/sop/editor";
import type { Store } from "@svc/store";
import { hiddenPaths } from "../paths.ts";
import { libraryRules } from "./library.ts";

export interface SopAuthorDeps {
  readonly home: Home;
  /** The one in force. */
  readonly config: () => LoadedConfig;
  /** Tools of this build; undefined: not known here. */
  readonly tools: () => readonly string[] | undefined;
  readonly library: SopLibrary;
  readonly store: Pick<Store, "write">;
  readonly audit: () => Pick<Sops["audit"], "add">;
  readonly redact: (text: string) => string;
}

/** As the desk names what the wire names. */
function editOf(edit: SopDraftRequest["edits"][number]): SopEdit {
  if (!("to" in edit)) return edit as SopEdit;
  const { requires_confirmation: requiresConfirmation, ...rest } = edit.to;
  return { step: edit.step, to: { ...rest, requiresConfirmation } };
}

type Loaded = typeof import("@svc/sop/editor") & { readonly editor: SopEditor };

export function sopAuthor(deps: SopAuthorDeps): SopAuthor {
  let loaded: Promise<Loaded> | undefined;
  const editor = (): Promise<Loaded> => {
    loaded ??= load(deps).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
  return {
    async read(name) {
      const { editor: one, sourceJson } = await editor();
      return sourceJson(await one.read(name));
    },
    async check({ name, toml, markdown, edits }) {
      const { editor: one, draftJson } = await editor();
      const text = toml === undefined ? undefined : { toml, markdown: markdown ?? undefined };
      return draftJson(await one.check(name, text, edits.map(editOf)));
    },
    async save(name, { toml, markdown, revision }, by) {
      const { editor: one, savedJson } = await editor();
      const change = { toml, markdown: markdown ?? undefined, revision: revision ?? undefined };
      return savedJson(await one.save(name, change, by));
    },
    async duplicate(name, copy, by) {
      const { editor: one, savedJson } = await editor();
      return savedJson(await one.duplicate(name, copy, by));
    },
    async setEnabled(name, enabled, by) {
      const { editor: one, savedJson } = await editor();
      return savedJson(await one.setEnabled(name, enabled, by));
    },
    async delete(name, by) {
      const { editor: one, undoneJson } = await editor();
      return undoneJson(await one.delete(name, by));
    },
    async rename(name, to, by) {
      const { editor: one, savedJson } = await editor();
      return savedJson(await one.rename(name, to, by));
    },
    async versions(name) {
      const { editor: one, versionJson } = await editor();
      return one.versions(name).map(versionJson);
    },
    async version(number) {
      const { editor: one, versionDetailJson } = await editor();
      return versionDetailJson(await one.version(number));
    },
    async undo(number, revision, by) {
      const { editor: one, undoneJson } = await editor();
      return undoneJson(await one.undo(number, revision, by));
    },
  };
}

/** The lists of the policy bind agents, not the people who write for them. */
const writingRules = (home: Home, config: LoadedConfig) => ({
  forbiddenPaths: [],
  hidden: hiddenPaths(home, config),
  workspaceOnly: true,
});

/** Finishes a change of procedures that a killed process began. Where that can't be written, readers go by its record. */
export async function finishChanges(home: Home, config: LoadedConfig, folder: string): Promise<void> {
  const [{ finishPending }, { openWorkspace }] = await Promise.all([import("@svc/sop/editor"), import("@svc/agent")]);
  const workspace = await openWorkspace(dirname(folder), writingRules(home, config));
  await finishPending(workspace, folder, workspace.root);
}

async function load({ home, config, tools, library, store, audit, redact }: SopAuthorDeps): Promise<Loaded> {
  const [writing, { openWorkspace }] = await Promise.all([import("@svc/sop/editor"), import("@svc/agent")]);
  const rules = libraryRules({ home }, config);
  const editor = new writing.SopEditor({
    folder: rules.folder,
    versions: join(home.root, "versions", "sops"),
    now: () => systemClock.now(),
    rules: () => rulesOf(rules),
    known: () => {
      const names = tools();
      return {
        nowMs: systemClock.now(),
        agents: [...resolveAgents(config().core).keys()],
        ...(names && { tools: names }),
      };
    },
    workspace: (root) => openWorkspace(root, writingRules(home, config())),
    library,
    audit: (kind, lines) =>
      store.write(() => {
        for (const line of lines) audit().add(kind, line);
      }),
    redact,
  });
  return { ...writing, editor };
}
