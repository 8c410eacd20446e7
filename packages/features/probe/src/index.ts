/** `probe`: what the chip of a Nucleo board says of itself, and its memory, through a GDB server. On with `hardware.gdb_server`. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "probe",
  extends: "hardware",
  when: ({ enabled, gdb_server: server }) => enabled !== false && server !== undefined,
  load: () => import("./probe.ts"),
  commands: { "hardware info": () => import("./info-command.ts") },
});
