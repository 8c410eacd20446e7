/** The lazy chunk of the procedure editor: the lists do not load it. */
export { NewProcedure, ProcedureEditor } from "./editor.tsx";
