/** Saved changes of procedures and the way back, as data. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { ApiRoute } from "./app.ts";
import { name, time } from "./fields.ts";
import { DIFF } from "./settings-specs.ts";
import { REVISION, SAVE_ERRORS, SAVED } from "./sop-desk-specs.ts";

type Spec = Omit<ApiRoute, "handle">;

export const UNDO_BODY = v.strictObject({
  revision: v.pipe(REVISION, v.description("Of the version that was looked at: the files as they were then.")),
});
const VERSION = v.object({
  version: integer(1),
  at: time(),
  by: v.string(),
  what: v.picklist(["create", "change", "delete", "rename", "undo"]),
  sops: v.pipe(v.array(v.string()), v.description("Names of the procedures; of a rename the new one first.")),
});
const FILE_DIFFS = v.array(v.object({ sop: v.string(), file: v.string(), lines: DIFF }));
const version = { id: name("The version's number.") };

export const VERSIONS: Spec = {
  method: "GET",
  path: "/api/sop-versions",
  access: "operate",
  summary: "Lists the changes of procedures that were saved, the newest first.",
  query: { sop: v.optional(v.pipe(v.string(), v.maxLength(128), v.description("a procedure's name"))) },
  answers: { 200: { description: "The last 200.", body: v.object({ versions: v.array(VERSION) }) } },
};

export const VERSION_DIFF: Spec = {
  method: "GET",
  path: "/api/sop-versions/{id}",
  access: "operate",
  summary: "Shows what a saved change did to the files, and what an undo would do to them now.",
  params: version,
  answers: {
    200: {
      description: "The change, secrets as dots.",
      body: v.object({
        ...VERSION.entries,
        changes: FILE_DIFFS,
        undo: FILE_DIFFS,
        revision: v.pipe(v.string(), v.description("Of the files as they are now, for an undo.")),
      }),
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_INVALID"],
};

export const UNDO: Spec = {
  method: "POST",
  path: "/api/sop-versions/{id}/undo",
  access: "operate",
  summary: "Puts the procedures of a saved change back as they were before it.",
  params: version,
  body: UNDO_BODY,
  answers: {
    200: {
      description: "They are as they were.",
      body: v.object({
        ...SAVED.entries,
        revision: v.pipe(v.nullable(v.string()), v.description("Null: there is no such procedure any more.")),
      }),
    },
  },
  errors: ["VERSION_UNKNOWN", "SOP_CHANGED", ...SAVE_ERRORS],
};

export const SOP_VERSION_SPECS = [VERSIONS, VERSION_DIFF, UNDO];
