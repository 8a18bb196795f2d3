"""One word, found as it is, as EvaLTex files."""

GT = 'img_1\n100,100\n1,1,"a",f,0,0,10,10\n'
DET = 'img_1\n1,"a",0,0,10,10\n'
