// Imported first by every entry, for its effect: on a Node that is too old the person gets one sentence instead of a
// syntax error or an undefined function somewhere inside. Nothing newer than Node 12 may be used in this file.
const major = Number(process.versions.node.split(".")[0]);
if (major < 20) {
  process.stderr.write(
    `Node ${process.versions.node} is too old for the set-up: it needs Node 20 or newer (only to fetch the pinned one).\n` +
      "Install a current Node from your system's packages or the Node.js download page, and run this again.\n",
  );
  process.exit(69);
}
