/** The model: provider, key, model name, and a connection test. */
import type { ModelList, ModelTest, Settings } from "@svc/api";
import { useId, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Heading, Section } from "../../components/layout.tsx";
import { Problem, Shown } from "../../components/shown.tsx";
import { Name, ServiceText } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { type PlainKey, rich, t } from "../../texts/texts.ts";
import { SectionForm } from "./all-settings.tsx";
import { type Draft, type SettingsEditor, useSettings } from "./draft.ts";
import { Line } from "./field.tsx";
import { Problems, SaveBar } from "./save-bar.tsx";

interface Preset {
  /** Base address of the provider; undefined: any other. */
  readonly name?: string;
  readonly provider: "openai" | "anthropic" | "openai-compatible";
  readonly url?: string;
  readonly needsKey: boolean;
  readonly hint: PlainKey;
}

const PRESETS: readonly Preset[] = [
  { name: "OpenAI", provider: "openai", needsKey: true, hint: "model.needs-an-api-key-of" },
  { name: "Anthropic", provider: "anthropic", needsKey: true, hint: "model.needs-an-api-key-of-2" },
  {
    name: "Ollama",
    provider: "openai-compatible",
    url: "http://127.0.0.1:11434/v1",
    needsKey: false,
    hint: "model.runs-on-this-machine-install",
  },
  {
    name: "OpenRouter",
    provider: "openai-compatible",
    url: "https://openrouter.ai/api/v1",
    needsKey: true,
    hint: "model.many-providers-models-with-one",
  },
  {
    name: "LM Studio",
    provider: "openai-compatible",
    url: "http://127.0.0.1:1234/v1",
    needsKey: false,
    hint: "model.runs-on-this-machine-start",
  },
  { provider: "openai-compatible", needsKey: false, hint: "model.any-server-with-openais-api" },
];

const titleOf = ({ name }: Preset): string => name ?? t("model.other-compatible");

const at = (key: string) => ["model", key];

export function ModelSettings() {
  const settings = useSettings();
  const section = settings.read.data?.sections.find(({ name }) => name === "model");
  return (
    <>
      <Heading title={t("common.model")} />
      <Shown read={settings.read}>
        {(state) => (
          <>
            <SaveBar settings={settings} />
            <Provider settings={settings} state={state} />
            {section && (
              <Section title={t("model.more")}>
                <SectionForm
                  settings={settings}
                  state={state}
                  section={section}
                  only={({ name }) => !["provider", "base_url", "api_key", "name"].includes(name)}
                />
              </Section>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

interface Props {
  readonly settings: SettingsEditor;
  readonly state: Settings;
}

function Provider({ settings, state }: Props) {
  const { draft } = settings;
  const provider = String(draft.value(state, at("provider")) ?? "builtin");
  const url = String(draft.value(state, at("base_url")) ?? "");
  const [picked, setPicked] = useState<Preset>();
  const preset = picked ?? presetOf(provider, url);
  const pick = (next: Preset): void => {
    setPicked(next);
    let changed = draft.set(state, at("provider"), next.provider).set(state, at("base_url"), next.url);
    // The key of one provider is not for another.
    if (state.secrets.includes("model.api_key")) changed = changed.set(state, at("api_key"), undefined);
    settings.replace(changed.set(state, at("name"), undefined));
  };
  return (
    <>
      {provider === "builtin" && <p class="notice">{t("model.the-built-in-echo-answers")}</p>}
      <fieldset class="presets">
        <legend>{t("model.provider")}</legend>
        {PRESETS.map((each) => (
          <label key={each.hint} class="preset">
            <input type="radio" name="preset" checked={preset === each} onChange={() => pick(each)} />
            <span>
              <strong>{titleOf(each)}</strong>
              <span class="hint">{t(each.hint)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {preset && <Connection settings={settings} state={state} preset={preset} />}
    </>
  );
}

const presetOf = (provider: string, url: string): Preset | undefined =>
  PRESETS.find((preset) => preset.provider === provider && preset.url !== undefined && preset.url === url) ??
  PRESETS.findLast(
    (preset) => preset.provider === provider && (preset.url === undefined || provider !== "openai-compatible"),
  );

function Connection({ settings, state, preset }: Props & { readonly preset: Preset }) {
  const { api } = useServices();
  const { draft, problems } = settings;
  const ids = { url: useId(), name: useId(), models: useId() };
  const [models, setModels] = useState<Listed>();
  const [report, setReport] = useState<ModelTest>();
  const section = state.sections.find(({ name }) => name === "model");
  const name = draft.value(state, at("name"));
  const list = useAction(async () => {
    // The schema requires a name before one can be chosen.
    const edits = named(draft, state, name).edits();
    setModels(await api.call<ModelList>("/api/settings/models", { method: "POST", body: { edits } }));
  });
  const test = useAction(async () => {
    setReport(undefined);
    setReport(
      await api.call<ModelTest>("/api/settings/model-test", { method: "POST", body: { edits: draft.edits() } }),
    );
  });
  return (
    <Section title={titleOf(preset)}>
      <form class="setting-form" onSubmit={(event) => event.preventDefault()}>
        {preset.provider === "openai-compatible" && (
          <div class="setting">
            <label for={ids.url}>{t("model.base-url")}</label>
            <Line
              id={ids.url}
              type="url"
              placeholder="http://127.0.0.1:8000/v1"
              text={String(draft.value(state, at("base_url")) ?? "")}
              take={(value) => {
                const changed = draft.set(state, at("base_url"), value.trim() === "" ? undefined : value.trim());
                const hasKey = state.secrets.includes("model.api_key") && !draft.has(at("api_key"));
                settings.replace(hasKey ? changed.set(state, at("api_key"), undefined) : changed);
              }}
            />
          </div>
        )}
        {section && (
          <SectionForm
            settings={settings}
            state={state}
            section={section}
            only={({ name: key }) => key === "api_key"}
          />
        )}
        <div class="setting">
          <label for={ids.name}>{t("common.model")}</label>
          <Line
            id={ids.name}
            list={ids.models}
            text={typeof name === "string" ? name : ""}
            placeholder={t("model.choose-from-the-list-or")}
            take={(value) => settings.set(at("name"), value.trim() === "" ? undefined : value.trim())}
          />
          <datalist id={ids.models}>
            {models?.models.map((model) => (
              <option key={model} value={model} />
            ))}
          </datalist>
          <div class="buttons">
            <Button busy={list.isRunning} onPress={() => void list.run()}>
              {t("model.list-models")}
            </Button>
            <Button busy={test.isRunning} disabled={typeof name !== "string"} onPress={() => void test.run()}>
              {t("model.test")}
            </Button>
          </div>
          {models && models.models.length > 0 && (
            <ul class="model-names" aria-label={t("model.models")}>
              {models.models.slice(0, 60).map((model) => (
                <li key={model}>
                  <button
                    type="button"
                    class="chip"
                    aria-pressed={model === name}
                    onClick={() => settings.set(at("name"), model)}
                  >
                    <bdi>{model}</bdi>
                  </button>
                </li>
              ))}
            </ul>
          )}
          {models?.error && (
            <p class="setting-problem" role="alert">
              <ServiceText>{models.error}</ServiceText>
            </p>
          )}
          <Problem error={list.error} />
          <Problem error={test.error} />
          {report && <Outcome report={report} />}
        </div>
      </form>
      <Problems problems={problems.filter(({ key }) => key.startsWith("model."))} />
    </Section>
  );
}

const named = (draft: Draft, state: Settings, name: unknown): Draft =>
  typeof name === "string" ? draft : draft.set(state, at("name"), "unknown");

interface Listed {
  readonly models: readonly string[];
  readonly error: string | null;
}

function Outcome({ report: { ok, model, latency_ms: ms, error } }: { readonly report: ModelTest }) {
  if (ok) {
    return (
      <p class="notice good" role="status">
        {rich("model.answered-in-ms", { model: <Name>{model}</Name>, ms })}
      </p>
    );
  }
  return (
    <div class="problem" role="alert">
      <p>
        {error ? <ServiceText>{error.message}</ServiceText> : t("model.the-model-did-not-answer")}{" "}
        <code>{error?.code}</code>
      </p>
      {error?.said && <p>{rich("common.the-provider-says", { said: <q dir="auto">{error.said}</q> })}</p>}
      {error?.hint && (
        <p>
          <strong>{t("common.fix")}</strong> <ServiceText>{error.hint}</ServiceText>
        </p>
      )}
    </div>
  );
}
