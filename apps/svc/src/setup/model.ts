/** Who answers: provider, name, key, price; and whether it does, tried at once. */
import type { ModelReport } from "@svc/api/control";
import { variableName } from "@svc/config";
import { SvcError } from "@svc/contract";
import { modelReportText } from "../cli/model-report.ts";
import { askHidden, askText, type Choice, choose, clack, confirmed } from "../cli/prompts.ts";
import type { Setup } from "./draft.ts";

type Provider = "builtin" | "openai" | "anthropic" | "openai-compatible";

const PROVIDERS: readonly Choice<Provider>[] = [
  { value: "builtin", label: "built-in", hint: "no key, no network: it repeats your messages" },
  { value: "openai", label: "OpenAI" },
  { value: "anthropic", label: "Anthropic" },
  { value: "openai-compatible", label: "any other with OpenAI's API", hint: "Ollama, vLLM, LM Studio, OpenRouter …" },
];

/** Asks again from the start when the model does not answer and the person wants to correct that. */
export async function askModel(setup: Setup): Promise<void> {
  const { draft } = setup;
  const before = draft.get("model.provider") as Provider | undefined;
  const provider = await choose("Which model answers?", PROVIDERS, before);
  if (provider !== before) forget(setup);
  draft.set("model.provider", provider);
  if (provider === "builtin") return;
  if (provider === "openai-compatible") await askBaseUrl(setup);
  await askModelKey(setup, "model.name", { message: "Name of the model, as the provider spells it" });
  await askApiKey(setup, provider);
  await askPrice(setup);
  if (!(await confirmed("Test the model now?", true)) || (await answers(setup))) return;
  const next = await choose("What now?", [
    { value: "correct", label: "correct the answers" },
    { value: "go-on", label: "go on all the same" },
  ]);
  if (next === "correct") await askModel(setup);
}

/** Nothing of one provider is another's, its key least of all. */
function forget({ draft }: Setup): void {
  for (const key of draft.settings.keys()) if (key.startsWith("model.")) draft.set(key, undefined);
}

async function askBaseUrl(setup: Setup): Promise<void> {
  const { draft } = setup;
  const before = draft.get("model.base_url");
  await askModelKey(setup, "model.base_url", {
    message: "Base URL of its API",
    placeholder: "http://127.0.0.1:11434/v1",
  });
  if (draft.get("model.base_url") !== before) draft.set("model.api_key", undefined);
}

async function askModelKey(
  { draft }: Setup,
  key: string,
  question: { readonly message: string; readonly placeholder?: string },
): Promise<void> {
  const before = draft.get(key);
  const text = await askText({
    ...question,
    ...(typeof before === "string" && { initialValue: before }),
    check: (text) => draft.problemWith(key, text),
  });
  draft.set(key, text);
}

async function askApiKey(setup: Setup, provider: Provider): Promise<void> {
  const { draft } = setup;
  const key = "model.api_key";
  const variable = keyVariable(setup);
  if (variable !== undefined) {
    const { log } = await clack();
    log.info(`The API key is taken from ${variable}, and not written.`);
    return draft.set(key, undefined);
  }
  const before = draft.get(key);
  const blank = before !== undefined ? "keep the one you typed" : provider === "openai-compatible" ? "do without" : "";
  const text = await askHidden({
    message: blank === "" ? "API key" : `API key (leave it blank to ${blank})`,
    check: (text) => draft.problemWith(key, text === "" ? before : text),
  });
  if (text !== "") draft.set(key, text);
}

/** Who gives a secret by the environment does not want it in a file. */
export function keyVariable({ context }: Setup): string | undefined {
  const variable = variableName({ path: ["model", "api_key"] });
  return context.env[variable]?.trim() ? variable : undefined;
}

/** Half a price is none: without the second number the first is not kept. */
async function askPrice({ draft }: Setup): Promise<void> {
  const [input, output] = [PRICE_KEYS.input, PRICE_KEYS.output];
  draft.set(input, undefined);
  draft.set(output, undefined);
  const check = (text: string): string | undefined =>
    text === "" || isPrice(text) ? undefined : "must be a number, like 0.25";
  const message = (what: string): string => `US dollars for a million ${what} tokens (leave it blank if unknown)`;
  const paid = await askText({ message: message("input"), check });
  if (paid === "") return;
  const got = await askText({ message: message("output"), check });
  if (got === "") return;
  draft.set(input, Number(paid));
  draft.set(output, Number(got));
}

export const PRICE_KEYS = { input: "model.price.input_per_million", output: "model.price.output_per_million" } as const;

export const isPrice = (text: string): boolean => /^\d{1,9}(?:\.\d{1,9})?$/.test(text);

/** Whether the model answered; what it said of itself is on the screen. No spinner: clack's takes Ctrl-C for a success. */
async function answers(setup: Setup): Promise<boolean> {
  const { log } = await clack();
  log.step("Asking the model …");
  const report = await tryModel(setup);
  if (report.ok) log.success(modelReportText(report));
  else log.error(modelReportText(report));
  return report.ok;
}

/** Throws the model's error when it does not answer: for whoever can't be asked what to do about it. */
export async function demandModel(setup: Setup): Promise<void> {
  const { error } = await tryModel(setup);
  if (error)
    throw new SvcError(error.code as SvcError["code"], error.message, error.hint === null ? {} : { hint: error.hint });
}

async function tryModel(setup: Setup): Promise<ModelReport> {
  const { testModelOf } = await import("../service/model-test.ts");
  return await testModelOf(await setup.draft.load());
}
