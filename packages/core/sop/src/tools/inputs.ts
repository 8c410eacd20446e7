/** Pieces of the tools' inputs. */
import * as v from "valibot";

const name = (description: string) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(256), v.description(description));

export const runId = name("Id of a run, as sop_run and sop_status tell it.");
export const sopName = name("Name of the procedure, as sop_list tells it.");
