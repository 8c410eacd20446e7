/** One step's question to the model: what is sent, who is told the answer as it comes, and what it cost. */
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import type { Json } from "@svc/contract";
import { callModel, type ModelAnswer } from "../models/call-model.ts";
import { estimateTokens, tokensIn } from "../models/tokens.ts";
import type { ToldTokens } from "../money/meter.ts";
import type { Tokens } from "../money/price.ts";
import { redactJson } from "../tools/redact-json.ts";
import { watched } from "../observe/watched.ts";
import { answerListeners } from "./answer-listeners.ts";
import { kept } from "./messages.ts";
import type { TurnRun } from "./turn.ts";

/** `step`: from 0. Throws COST_LIMIT, MODEL_*; an abort with the signal's reason. */
export function askModel(run: TurnRun, step: number): Promise<ModelAnswer> {
  run.checkBudget();
  const options = optionsOf(run);
  return run.instruments.isWatched ? toldCall(run, options, step) : call(run, options, step);
}

function toldCall(run: TurnRun, options: LanguageModelV4CallOptions, step: number): Promise<ModelAnswer> {
  const { instruments, settings, turn, progress, redaction } = run;
  const { meter } = progress;
  const { provider, modelName: model } = settings;
  const work = instruments.begin("model-call", { agent: turn.agent, provider, model, step });
  const before = meter.mark();
  const ask = (): Promise<ModelAnswer> => call(run, options, step);
  // It was JSON before the library typed it.
  const clean = (said: unknown): Json => redactJson(said as Json, redaction.redact);
  const toldAsk = async (): Promise<ModelAnswer> => {
    work.content("input", clean(options.prompt));
    const answer = await ask();
    work.content("output", clean(kept(answer.content)));
    return answer;
  };
  return watched(work, work.wantsContent ? toldAsk : ask, (error) => ({ error, ...meter.since(before) }));
}

async function call(run: TurnRun, options: LanguageModelV4CallOptions, step: number): Promise<ModelAnswer> {
  const { settings, progress, turn, redaction, emit } = run;
  const { onEvent, watch } = turn.request;
  const { meter } = progress;
  const tell = (text: string): void => {
    progress.partial = { step, text: (progress.partial?.step === step ? progress.partial.text : "") + text };
    emit({ type: "text-delta", text, offset: turn.toldChars });
    turn.toldChars += text.length;
    run.onPartial();
  };
  const estimate = (outputTokens: number): Tokens => ({
    inputTokens: estimateTokens(JSON.stringify([options.prompt, options.tools])),
    outputTokens,
  });
  const answer = await callModel({
    model: settings.model,
    clock: run.clock,
    maxRetries: settings.maxRetries,
    onPieces: answerListeners({
      isAsker: onEvent !== undefined,
      isWatched: run.isListened,
      watcher: watch && { begin: () => watch.begin(step), push: (text) => watch.push(text) },
      redaction,
      tell,
    }),
    onLost: (chars) => meter.add(UNTOLD, () => estimate(tokensIn(chars))),
    options,
  });
  meter.add(answer, () => estimate(estimateTokens(JSON.stringify(answer.content))));
  return answer;
}

const UNTOLD: ToldTokens = { inputTokens: undefined, outputTokens: undefined };

function optionsOf({ settings, history, progress, turn }: TurnRun): LanguageModelV4CallOptions {
  const { maxOutputTokens, functionTools } = settings;
  const instructions = [settings.instructions, turn.request.instructions].filter(Boolean).join("\n\n");
  const system: LanguageModelV4Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  return {
    prompt: system.concat(history, progress.messages),
    abortSignal: turn.limit.signal,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(functionTools.length > 0 && { tools: functionTools }),
  };
}
