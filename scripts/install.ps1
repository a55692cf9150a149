# Installs runner on Windows: downloads the program, verifies its checksum, and puts it into
# $env:RUNNER_INSTALL, by default ~\.local\bin. It needs no administrator, and leaves nothing behind
# when anything goes wrong.
#
#   ./install.ps1            the latest release
#   ./install.ps1 1.2.3      that release
#
# RUNNER_RELEASES is where releases are; a release fills it in below.
param([string] $Version = "latest")

$ErrorActionPreference = "Stop"
$ProgressPreference = "SilentlyContinue"
[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12

# PowerShell 5.1 is on Windows alone, and does not know $IsWindows.
if ($PSVersionTable.PSEdition -eq "Core" -and -not $IsWindows) {
  throw "this is not Windows: use install.sh"
}
$releases = if ($env:RUNNER_RELEASES) { $env:RUNNER_RELEASES } else { "@RELEASES@" }
if ($releases.StartsWith("@")) {
  throw "RUNNER_RELEASES is not set: set it to the page of the releases, https://.../releases"
}
$from = switch -Regex ($Version) {
  "^latest$" { "$releases/latest/download" }
  "^v\d" { "$releases/download/$Version" }
  "^\d" { "$releases/download/v$Version" }
  default { throw "`"$Version`" is no version: write it like 1.2.3, or leave it out for the latest" }
}
if (-not [Environment]::Is64BitOperatingSystem) { throw "there is no program for 32-bit Windows" }

# On ARM the program for x64 runs as well.
$name = "runner-windows-x64.exe"
$folder = if ($env:RUNNER_INSTALL) { $env:RUNNER_INSTALL } else { Join-Path $HOME ".local\bin" }
$target = Join-Path $folder "runner.exe"
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())
$new = $null
New-Item -ItemType Directory -Path $work | Out-Null
try {
  $sums = Join-Path $work "SHA256SUMS"
  $file = Join-Path $work $name
  Invoke-WebRequest -UseBasicParsing "$from/SHA256SUMS" -OutFile $sums
  $line = Get-Content -LiteralPath $sums | Where-Object { $_ -match "^([0-9a-f]{64})[ *]+$([Regex]::Escape($name))$" }
  if (-not $line) { throw "the release has no ${name}: $from/SHA256SUMS does not name it" }
  $wanted = $line.Substring(0, 64)
  Invoke-WebRequest -UseBasicParsing "$from/$name" -OutFile $file
  $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash.ToLowerInvariant()
  if ($found -ne $wanted) {
    throw "the download of $name is damaged: its checksum is $found, and should be $wanted"
  }
  New-Item -ItemType Directory -Force -Path $folder | Out-Null
  if (Test-Path -LiteralPath $target -PathType Container) {
    throw "$target is a folder: set RUNNER_INSTALL to a folder without it"
  }
  # Beside the program first: a disk that is full on the way there costs nothing that was there.
  $new = Join-Path $folder ".runner-$PID.exe"
  Copy-Item -LiteralPath $file -Destination $new
  Move-Item -Force -LiteralPath $new -Destination $target
} finally {
  if ($new -and (Test-Path -LiteralPath $new)) {
    Remove-Item -Force -LiteralPath $new -ErrorAction SilentlyContinue
  }
  Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
}

Write-Output "installed $target"
if (($env:PATH -split ";") -notcontains $folder) {
  Write-Output "add it to your PATH: `$env:PATH = `"$folder;`$env:PATH`""
}
