@echo off
rem Finds a Node to begin with (20 or newer) and hands over; see --help.
setlocal
node -e "process.exit(parseInt(process.versions.node, 10) >= 20 ? 0 : 1)" >nul 2>&1
if errorlevel 1 goto nonode
node "%~dp0packages\tooling\bootstrap\setup.mjs" %*
exit /b %ERRORLEVEL%

:nonode
echo setup: Node 20 or newer is needed to begin with, and none was found. 1>&2
echo Install it with "winget install OpenJS.NodeJS.LTS" or from the Node.js download page, 1>&2
echo open a new terminal, check it with "node --version", and run this again. 1>&2
exit /b 69
