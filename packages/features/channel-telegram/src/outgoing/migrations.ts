/** Groups that became supergroups, which gives them another id: what is meant for the old one goes to the new one. */
import type { FeatureContext, Json } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { fieldsOf, idOf } from "../fields.ts";

export interface Migrations {
  /** Its id by now. Rejects with STORE_*. */
  current(chatId: number | string): Promise<number | string>;
  add(from: number | string, to: number): Promise<void>;
}

const NAME = "migrated-groups";

export function migrationsIn({ state }: Pick<FeatureContext, "state">): Migrations {
  let loading: Promise<Map<string, number>> | undefined;
  const load = (): Promise<Map<string, number>> =>
    (loading ??= state.get(NAME).then(idsOf, (error: unknown) => {
      // What could not be read now may be read by the next try.
      loading = undefined;
      throw error;
    }));
  return {
    async current(chatId) {
      return (await load()).get(String(chatId)) ?? chatId;
    },
    async add(from, to) {
      const all = await load();
      all.set(String(from), to);
      // A full disk is no error: the platform says it again.
      await state.set(NAME, JSON.stringify(Object.fromEntries(all))).catch(() => undefined);
    },
  };
}

function idsOf(text: string | undefined): Map<string, number> {
  const ids: Json | undefined = text === undefined ? undefined : parseJson(Buffer.from(text));
  return new Map(
    Object.entries(fieldsOf(ids)).flatMap(([from, to]) => (idOf(to) === undefined ? [] : [[from, to as number]])),
  );
}
