/** Settings for the page: the file is edited, put into force by a reload, and put back when that is refused. */
import type * as api from "@svc/api";
import type { ReloadReport } from "@svc/api/control";
import { ConfigError, createRedactor, formatProblems, type LoadedConfig, type Problem } from "@svc/config";
import type { ConfigEditor, SettingsChange } from "@svc/config/settings";
import { type Composition, SvcError } from "@svc/contract";
import type { SettingsAdmin } from "@svc/gateway";
import { Semaphore } from "@svc/kit/async";
import type { Service } from "./service.ts";

type Deps = Pick<Service, "context" | "store" | "governance">;

export class SettingsDesk implements SettingsAdmin {
  readonly #service: Deps;
  readonly #reload: () => Promise<ReloadReport>;
  readonly #sendTest: SettingsAdmin["testChannel"];
  /** The reload included: what is restored must be what was saved. */
  readonly #lock = new Semaphore(1);

  constructor(service: Deps, reload: () => Promise<ReloadReport>, sendTest: SettingsAdmin["testChannel"]) {
    this.#service = service;
    this.#reload = reload;
    this.#sendTest = sendTest;
  }

  async read(): Promise<api.Settings> {
    const { composition } = this.#service.context;
    const [editor, { formSchema }] = await Promise.all([this.#editor(), import("@svc/config/settings")]);
    const { file, revision, unwritable, values, secrets, environment, problems } = await editor.state();
    return {
      file,
      revision,
      unwritable: unwritable ?? null,
      sections: formSchema(composition.features, composition.catalogue) as readonly api.SettingsSection[],
      values: values as api.Settings["values"],
      secrets: [...secrets],
      environment: { ...environment },
      problems: problems.map(shownProblem),
      absent: absentSections(composition),
      aliases: aliasesOf(composition),
    };
  }

  async preview(change: api.SettingsChange): Promise<api.SettingsPreview> {
    const editor = await this.#editor();
    try {
      const { revision, diff, problems, warnings } = await editor.preview(change as SettingsChange);
      return { revision, diff: [...diff], problems: problems.map(shownProblem), warnings: [...warnings] };
    } catch (error) {
      const { revision, problems } = await editor.state();
      return { revision, diff: [], problems: [...problemsOf(error), ...problems].map(shownProblem), warnings: [] };
    }
  }

  save(change: api.SettingsChange, revision: string, by: string): Promise<api.SettingsSaved> {
    return this.#lock.run(() => this.#save(change as SettingsChange, revision, by));
  }

  async #save(change: SettingsChange, revision: string, by: string): Promise<api.SettingsSaved> {
    const { store, governance } = this.#service;
    const editor = await this.#editor();
    const saved = await editor.save(change, revision, by).catch((error: unknown) => {
      throw asRefusal(error);
    });
    try {
      const { changed, restart, warnings } = await this.#reload();
      const version = saved.version ?? null;
      if (version !== null) {
        const keys = "edits" in change ? saved.keys.join(" ") : `undo of ${change.undo}`;
        await store.write(() => governance.sops.audit.add("settings-change", { version, keys, by }));
      }
      return {
        version,
        revision: saved.revision,
        changed: [...changed],
        restart: [...restart],
        warnings: [...warnings],
      };
    } catch (error) {
      const isRestored = await saved.restore().catch(() => false);
      const why = error instanceof SvcError ? error.message : "something unexpected went wrong";
      const then = isRestored ? "The file is as it was." : "The file was changed meanwhile and stays as it is.";
      throw new SvcError("SETTINGS_REFUSED", `The change was not put into force: ${why} ${then}`, { cause: error });
    }
  }

  async versions(): Promise<api.SettingsVersion[]> {
    return (await this.#editor()).history().map((version) => ({ ...version, keys: [...version.keys] }));
  }

  async changeOf(version: number): Promise<api.Diff> {
    return [...(await (await this.#editor()).changeOf(version))];
  }

  async models(request: api.SettingsTry, signal: AbortSignal): Promise<api.ModelList> {
    const { listModels } = await import("@svc/agent");
    return listModels(await this.#tried(request), request.agent, signal);
  }

  async testModel(request: api.SettingsTry, signal: AbortSignal): Promise<api.ModelTest> {
    const { testModelOf } = await import("./model-test.ts");
    const config = await this.#tried(request);
    const { ok, provider, model, latency_ms, error } = await testModelOf(config, signal, request.agent);
    const { redact } = this.#service.context.log;
    const hidden = (text: string): string => redacted(text, config, redact);
    return {
      ok,
      provider,
      model,
      latency_ms,
      error: error && {
        code: error.code,
        message: hidden(error.message),
        hint: error.hint === null ? null : hidden(error.hint),
        said: error.said === null ? null : hidden(error.said),
      },
    };
  }

  testChannel: SettingsAdmin["testChannel"] = (request, signal) => this.#sendTest(request, signal);

  /** The config with these edits, which are not written. Throws SETTINGS_INVALID. */
  async #tried({ edits }: api.SettingsTry): Promise<LoadedConfig> {
    const editor = await this.#editor();
    return editor.tried({ edits } as SettingsChange).catch((error: unknown) => {
      throw asRefusal(error);
    });
  }

  #editor(): Promise<ConfigEditor> {
    return this.#service.context.editor();
  }
}

/** A secret that was only typed in is none of the log's yet. */
const redacted = (text: string, config: LoadedConfig, redact: (text: string) => string): string =>
  createRedactor(config.secrets()).redact(redact(text));

/** What a person can correct is no failure of the service. */
function asRefusal(error: unknown): unknown {
  if (error instanceof ConfigError)
    return new SvcError("SETTINGS_INVALID", formatProblems(error.problems), { cause: error });
  if (error instanceof SvcError && error.code === "CONFIG_INVALID") {
    return new SvcError("SETTINGS_INVALID", error.message, { cause: error });
  }
  return error;
}

/** Throws what is none of the change's. */
function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof ConfigError) return [];
  if (error instanceof SvcError && ["CONFIG_INVALID", "CONFIG_UNWRITABLE"].includes(error.code)) {
    return error.code === "CONFIG_INVALID" ? [] : [{ code: error.code, key: "", message: error.message }];
  }
  throw error;
}

const shownProblem = ({ code, key, message, line, column, allowed, didYouMean, env }: Problem) => ({
  code,
  key,
  message,
  line: line ?? null,
  column: column ?? null,
  allowed: allowed ?? null,
  did_you_mean: didYouMean ?? null,
  env: env ?? null,
});

const absentSections = ({ catalogue }: Composition): api.Settings["absent"] =>
  catalogue
    .filter(({ included }) => !included)
    .flatMap(({ sections, flag, summary, profiles, planned, title, build }) =>
      sections.map((section) => ({
        section,
        flag,
        summary: title ?? summary,
        profiles: [...profiles],
        planned,
        build,
      })),
    );

const aliasesOf = ({ catalogue }: Composition): api.Settings["aliases"] =>
  Object.assign({}, ...catalogue.map(({ aliases }) => aliases ?? {})) as Record<string, string>;
