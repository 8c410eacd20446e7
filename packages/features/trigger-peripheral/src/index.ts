/** `trigger-peripheral`: changes of pins start procedures. On where a board of `[[peripherals.boards]]` has `watch`. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "trigger-peripheral",
  extends: "peripherals",
  when: ({ enabled, boards }) =>
    enabled !== false &&
    ((boards ?? []) as { readonly watch?: readonly unknown[] }[]).some(({ watch = [] }) => watch.length > 0),
  load: () => import("./peripheral.ts"),
});
