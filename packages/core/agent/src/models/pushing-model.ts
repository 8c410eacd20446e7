/** A model that hands over each part of its answer by a call: a stream of the web costs more than reading the part. */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";

export type TakePart = (part: LanguageModelV4StreamPart) => void;

export interface PushingModel extends LanguageModelV4 {
  /** As `doStream`. Rejects with what `take` throws, and asks for nothing more then. */
  pushParts(options: LanguageModelV4CallOptions, take: TakePart): Promise<void>;
}

export const isPushing = (model: LanguageModelV4): model is PushingModel => "pushParts" in model;

/** `doStream` for a model that pushes. Resolves when the answer begins. */
export async function streamOf(
  model: Pick<PushingModel, "pushParts">,
  options: LanguageModelV4CallOptions,
): Promise<{ stream: ReadableStream<LanguageModelV4StreamPart> }> {
  const cancelled = new AbortController();
  const { abortSignal } = options;
  const signal = abortSignal ? AbortSignal.any([abortSignal, cancelled.signal]) : cancelled.signal;
  const begun = Promise.withResolvers<void>();
  let isBegun = false;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      const take: TakePart = (part) => {
        isBegun = true;
        begun.resolve();
        controller.enqueue(part);
      };
      const end = (): void => {
        begun.resolve();
        controller.close();
      };
      const fail = (error: unknown): void => {
        if (!isBegun) return begun.reject(error);
        // An error of the stream itself would throw away the parts that nobody has read yet.
        if (cancelled.signal.aborted) return;
        controller.enqueue({ type: "error", error });
        controller.close();
      };
      model.pushParts({ ...options, abortSignal: signal }, take).then(end, fail);
    },
    cancel: (reason) => cancelled.abort(reason),
  });
  await begun.promise;
  return { stream };
}
