/**
 * `probe`: what the chip of a Nucleo board says of itself, and its memory, through the GDB server of `hardware.gdb_server`, else one that
 * OpenOCD makes where it is installed.
 */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "probe",
  extends: "hardware",
  when: ({ enabled }) => enabled !== false,
  load: () => import("./probe.ts"),
  commands: { "hardware info": () => import("./info-command.ts") },
});
