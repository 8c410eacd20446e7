/** What `GET /metrics` answers: valid, bounded, and nobody's business but the operator's. */
import type { Exposition, FeatureDefinition } from "@svc/contract";
import { demand, type Check } from "../../check.ts";
import { NO_READINGS } from "../../feature-context.ts";
import { constructed, type ObserverSubject, opened, type OpenedObserver, tellAll } from "./opened.ts";
import { parseExposition } from "./parse-exposition.ts";
import { type Name, PLANTED } from "./samples.ts";

const MANY = 1_200;

const usual: Name = (kind) => `some_${kind}`;

export function expositionChecks(definition: FeatureDefinition, subject: ObserverSubject): Check[] {
  /** Of an observer without one there is nothing to check. */
  const exposing = async (look: (opened: OpenedObserver, exposition: Exposition) => Promise<void>): Promise<void> => {
    const { made } = await constructed(definition, subject);
    if (made.observer?.exposition === undefined) return;
    const context = () => ({ readings: () => NO_READINGS, ...subject.context?.() });
    await opened(definition, { ...subject, context }, (one) => look(one, one.observer.exposition!));
  };
  return [
    {
      name: "its exposition is valid, before anything has happened and afterwards",
      run: () =>
        exposing(async ({ observer }, exposition) => {
          parseExposition(await exposition.text());
          tellAll(observer, usual);
          tellAll(observer, () => 'a "quoted"\nname\\');
          demand(
            parseExposition(await exposition.text()).some(({ samples }) => samples.length > 0),
            "it tells nothing",
          );
        }),
    },
    {
      name: "its exposition is told to many at once",
      run: () =>
        exposing(async ({ observer }, exposition) => {
          tellAll(observer, usual);
          const texts = await Promise.all(Array.from({ length: 20 }, () => exposition.text()));
          for (const text of texts) parseExposition(text);
        }),
    },
    {
      name: "its exposition has no text, id or name of a person",
      run: () =>
        exposing(async ({ observer }, exposition) => {
          tellAll(observer, usual);
          const [at] = new RegExp(`^.*${PLANTED}.*$`, "m").exec(await exposition.text()) ?? [];
          demand(at === undefined, `it has: ${at}`);
        }),
    },
    {
      name: "its exposition stops growing, however many names there are",
      run: () =>
        exposing(async ({ observer }, exposition) => {
          const tell = (from: number): void => {
            for (let index = from; index < from + MANY; index += 1) tellAll(observer, (kind) => `${kind}_${index}`);
          };
          tell(0);
          const before = seriesIn(await exposition.text());
          tell(MANY);
          const after = seriesIn(await exposition.text());
          demand(after === before, `${MANY} more names make ${after - before} more series`);
        }),
    },
    {
      name: "its exposition is told all the same where nobody knows how the service stands",
      async run() {
        const unknown = () => ({
          ...subject.context?.(),
          readings: () => {
            throw new Error("the store is closed");
          },
        });
        await opened(definition, { ...subject, context: unknown }, async ({ observer }) => {
          tellAll(observer, usual);
          parseExposition((await observer.exposition?.text()) ?? "");
        });
      },
    },
  ];
}

const seriesIn = (text: string): number =>
  parseExposition(text).reduce((count, { samples }) => count + samples.length, 0);
