/** Loaded when somebody writes a procedure: the lists do without it. */
export { NewProcedure, ProcedureEditor } from "./editor.tsx";
