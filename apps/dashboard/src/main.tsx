import { render } from "preact";

const root = document.getElementById("page");
if (root !== null) render(<h1>svc</h1>, root);
