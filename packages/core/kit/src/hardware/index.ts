/** `@svc/kit/hardware`: boards and adapters, for the features that use them. */
export * from "./boards.ts";
export * from "./chip-probe.ts";
export * from "./known-boards.ts";
export * from "./motor-boards.ts";
export * from "./usb.ts";
