# SPDX-License-Identifier: MIT
# The compiler tells when the headers are too old.
set(PACKAGE_VERSION_COMPATIBLE TRUE)
