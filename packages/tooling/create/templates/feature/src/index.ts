/** `__id__`: how turns went since the start. */
import { defineFeature, integer } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  slow_turn_secs: v.pipe(integer(1, 86_400), v.description("Seconds from which on a turn counts as slow.")),
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "__id__",
  __owns__: "__section__",
  config,
  load: () => import("./__name__.ts"),
});
