/** Drafts whose platform id is on disk: the next life must continue them. */
import { DatabaseSync } from "node:sqlite";
import { databaseOf } from "../judge/database.ts";
import { labelIn } from "../plan/messages.ts";

/** Their labels, after a kill. */
export function notedDrafts(home: string): string[] {
  using db = new DatabaseSync(databaseOf(home), { readOnly: true });
  const rows = db
    .prepare("SELECT json_extract(body, '$.text') AS text FROM inbox JOIN inbox_open USING (n) WHERE draft IS NOT NULL")
    .all() as { readonly text: string }[];
  return rows.flatMap(({ text }) => labelIn(text) ?? []);
}
