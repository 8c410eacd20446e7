/** `@svc/kit/hardware`: boards and adapters, for the features that use them. */
export * from "./boards.ts";
export * from "./usb.ts";
