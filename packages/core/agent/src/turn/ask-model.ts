/** One step's question to the model: what is sent, who is told the answer as it comes, and what it cost. */
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { type Json, SvcError } from "@svc/contract";
import { callModel, type ModelAnswer, type ModelCall, type ModelWait } from "../models/call-model.ts";
import { emptyAnswerError } from "../models/model-error.ts";
import { estimateTokens, tokensIn } from "../models/tokens.ts";
import type { ToldTokens } from "../money/meter.ts";
import type { Tokens } from "../money/price.ts";
import { redactJson } from "../tools/redact-json.ts";
import { watched } from "../observe/watched.ts";
import { answerListeners } from "./answer-listeners.ts";
import { kept, textOf, toolCallsOf } from "./messages.ts";
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
  let waited: ModelWait | undefined;
  const onWaiting = (wait: ModelWait): void => {
    waited = wait;
    emit({ type: "turn-waiting", ...wait });
  };
  const modelCall: ModelCall = {
    model: settings.model,
    about: { ...settings.about, redact: redaction.redact },
    onWaiting,
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
  };
  const answer = await turn.limit.blaming(
    () => timeoutError(waited),
    () => callModel(modelCall),
  );
  meter.add(answer, () => estimate(estimateTokens(JSON.stringify(answer.content))));
  const isEmpty = toolCallsOf(answer.content).length === 0 && textOf(answer.content).trim() === "";
  const unanswered = isEmpty ? emptyAnswerError(answer.finish) : undefined;
  if (unanswered) throw unanswered;
  return answer;
}

/** `waited`: what the provider failed with before. */
const timeoutError = (waited: ModelWait | undefined): SvcError =>
  waited === undefined
    ? new SvcError("TURN_TIMEOUT", "The turn's time was up before the model answered.", {
        hint:
          "Try again. If the model is slow, raise agent.turn_timeout_secs; if it never answers, check model.base_url and " +
          "the network: svc model test.",
      })
    : new SvcError("TURN_TIMEOUT", `The turn's time was up before the model answered. ${waited.message}`, {
        hint: "Try again in a few minutes.",
      });

const UNTOLD: ToldTokens = { inputTokens: undefined, outputTokens: undefined };

function optionsOf({ settings, history, progress, turn, promptContext }: TurnRun): LanguageModelV4CallOptions {
  const { maxOutputTokens, functionTools } = settings;
  const instructions = [settings.instructions, turn.request.instructions, promptContext].filter(Boolean).join("\n\n");
  const system: LanguageModelV4Message[] = instructions ? [{ role: "system", content: instructions }] : [];
  return {
    prompt: system.concat(history, progress.messages),
    abortSignal: turn.limit.signal,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(functionTools.length > 0 && { tools: functionTools }),
  };
}
