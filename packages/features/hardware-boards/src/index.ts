/** `hardware-boards`: facts about the configured boards, and data sheets if an adapter reaches chips. */
import { defineFeature } from "@svc/contract";

export default [
  defineFeature({
    id: "hardware-boards",
    extends: "peripherals",
    when: ({ enabled, boards }) => enabled !== false && Array.isArray(boards) && boards.length > 0,
    load: () => import("./boards.ts"),
  }),
  defineFeature({
    id: "hardware-boards-datasheets",
    partOf: "hardware-boards",
    extends: "hardware",
    when: ({ enabled }) => enabled !== false,
    load: () => import("./datasheet.ts"),
  }),
];
