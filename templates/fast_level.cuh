// The optimizer's fast level leaves out passes that find little here and take long; the assembler keeps
// its own full level, which finds the rest. Read by runtime/compile.c:
// NVRTC: --Ofast-compile=min --ptxas-options=--Ofast-compile=0
